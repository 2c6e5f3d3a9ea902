// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2/textlogger"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster/internal/disks"
)

//go:embed config
var configFiles embed.FS

// adminUser is who the tests are.
const adminUser = "admin"

// writeConfig lays out the configuration that the programs read.
func (c *Cluster) writeConfig(context.Context) error {
	files := map[string][]byte{}
	for _, name := range []string{"audit-policy.yaml", "egress.yaml", "scheduler.yaml"} {
		content, err := fs.ReadFile(configFiles, "config/"+name)
		if err != nil {
			return err
		}
		files[name] = content
	}
	stages, err := kubeletStages()
	if err != nil {
		return err
	}
	files["stages.yaml"] = stages
	return c.write(files)
}

// connect makes the admin's clients.
func (c *Cluster) connect(context.Context) error {
	if err := c.writeKubeconfig("admin", adminUser, "system:masters"); err != nil {
		return err
	}
	config, err := c.configFor(adminUser, "system:masters")
	if err != nil {
		return err
	}
	c.Config = config
	if c.Kubernetes, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	c.Client, err = client.New(config, client.Options{})
	return err
}

// seed creates what the programs of the world need.
func (c *Cluster) seed(ctx context.Context) error {
	manifest, err := fs.ReadFile(configFiles, "config/seed.yaml")
	if err != nil {
		return err
	}
	objects, err := Decode(manifest)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := c.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// Decode reads the documents of a YAML file.
func Decode(manifest []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := reader.Decode(object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// startDisks runs the provisioner in this process, as a user of its own.
func (c *Cluster) startDisks(context.Context) error {
	config, err := c.configFor("zonal-disks")
	if err != nil {
		return err
	}
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := c.openClientLog(); err != nil {
		return err
	}
	c.disks = disks.New(api)
	stop, closeLog := c.disks.Run(c.clientLog), c.stopDisks
	c.stopDisks = sync.OnceFunc(func() {
		stop()
		closeLog()
	})
	return nil
}

// openClientLog makes the log of what clients in this process complain of.
func (c *Cluster) openClientLog() error {
	log, err := os.Create(filepath.Join(c.dir, "clients.log"))
	if err != nil {
		return err
	}
	c.clientLog = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(log)))
	c.stopDisks = func() { _ = log.Close() }
	return nil
}

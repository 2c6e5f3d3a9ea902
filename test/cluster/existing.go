// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster/binaries"
)

// KubeconfigEnv names the variable that, when it is set, has the tests use an
// existing cluster instead of a control plane of their own: the current context
// of that kubeconfig, whose user has to be a cluster admin.
const KubeconfigEnv = "FLEETWRIGHT_KUBECONFIG"

// ImageEnv names the variable that holds the image of members there. The
// default is one that only a played kubelet can run.
const ImageEnv = "FLEETWRIGHT_CELLD_IMAGE"

// patience is longer where images are pulled and disks are made.
func patience() time.Duration {
	if os.Getenv(KubeconfigEnv) != "" {
		return 5 * time.Minute
	}
	return time.Minute
}

// Image is the image that members of fleets have.
func (c *Cluster) Image() string {
	if image := os.Getenv(ImageEnv); c.existing && image != "" {
		return image
	}
	return "registry.test/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
}

// existingSteps are what there is to do instead of a start.
var existingSteps = []step{
	{"reading the kubeconfig", (*Cluster).readKubeconfig},
	{"finding zones", (*Cluster).findZones},
	{"finding disks", (*Cluster).findDisks},
}

// attach uses an existing cluster.
func attach(ctx context.Context) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	binary, err := binaries.ControlPlane.Find()
	if err != nil && !errors.Is(err, binaries.ErrNotBuilt) {
		return nil, err
	}
	c, err := newCluster(binary)
	if err != nil {
		return nil, err
	}
	c.existing = true
	if err := c.take(ctx, existingSteps); err != nil {
		return nil, errors.Join(fmt.Errorf("using the cluster of %s=%s: %w", KubeconfigEnv, os.Getenv(KubeconfigEnv), err),
			c.removeMade(ctx), os.RemoveAll(c.dir))
	}
	return c, nil
}

// leave leaves an existing cluster as it was found, and says what is left of
// the tests: everything when it is to be kept.
func (c *Cluster) leave(failed bool) string {
	defer c.stopDisks()
	if c.keep {
		return "what the tests made is left in the cluster; this is its kubeconfig, and logs of clients: " + c.dir
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := c.removeMade(ctx); err != nil {
		return fmt.Sprintf("the cluster is not as it was: %v", err)
	}
	if !failed {
		_ = os.RemoveAll(c.dir)
	}
	return ""
}

// readKubeconfig copies what matters of the kubeconfig to where programs of the
// tests find it, and makes the clients.
func (c *Cluster) readKubeconfig(context.Context) error {
	if err := c.openClientLog(); err != nil {
		return err
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: os.Getenv(KubeconfigEnv)}
	read, err := rules.Load()
	if err != nil {
		return err
	}
	if err := clientcmdapi.MinifyConfig(read); err != nil {
		return err
	}
	if err := clientcmdapi.FlattenConfig(read); err != nil {
		return err
	}
	if err := clientcmd.WriteToFile(*read, c.Kubeconfig()); err != nil {
		return err
	}
	if c.Config, err = clientcmd.NewDefaultClientConfig(*read, nil).ClientConfig(); err != nil {
		return err
	}
	c.Config.QPS = -1
	c.Config.UserAgent = "fleetwright-test/" + adminUser
	if c.Kubernetes, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	made, err := client.NewWithWatch(c.Config, client.Options{})
	if err != nil {
		return err
	}
	c.Client = c.remembering(made)
	return nil
}

// findZones finds the nodes that members can be on, in three zones.
func (c *Cluster) findZones(ctx context.Context) error {
	var nodes corev1.NodeList
	if err := c.Client.List(ctx, &nodes); err != nil {
		return err
	}
	found := map[string][]string{}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" && free(node) {
			found[zone] = append(found[zone], node.Name)
		}
	}
	zones := slices.Sorted(maps.Keys(found))
	if len(zones) < 3 {
		return fmt.Errorf("nodes that are ready and take any Pod are in %d zones (%s), and fleets need 3: "+
			"kubectl label node NODE %s=ZONE gives a node a zone", len(zones), strings.Join(zones, ", "), corev1.LabelTopologyZone)
	}
	c.zones = map[string][]string{}
	for _, zone := range zones[:3] {
		c.zones[zone] = found[zone]
	}
	return nil
}

// free tells whether any Pod can be scheduled on a node.
func free(node *corev1.Node) bool {
	return nodeCondition(node).Status == corev1.ConditionTrue && !node.Spec.Unschedulable &&
		!slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Effect != corev1.TaintEffectPreferNoSchedule })
}

// findDisks makes the class of the tests' disks after the default one, unless
// there is such a class.
func (c *Cluster) findDisks(ctx context.Context) error {
	err := c.Client.Get(ctx, client.ObjectKey{Name: StorageClass}, &storagev1.StorageClass{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	var classes storagev1.StorageClassList
	if err := c.Client.List(ctx, &classes); err != nil {
		return err
	}
	for i := range classes.Items {
		like := &classes.Items[i]
		if like.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		reclaim, binding := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingWaitForFirstConsumer
		return c.Client.Create(ctx, &storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: StorageClass},
			Provisioner: like.Provisioner, Parameters: like.Parameters, MountOptions: like.MountOptions,
			AllowedTopologies: like.AllowedTopologies, ReclaimPolicy: &reclaim, VolumeBindingMode: &binding,
		})
	}
	return fmt.Errorf("there is neither a StorageClass %s nor a default one to make it like", StorageClass)
}

// impersonating is how an admin asks as somebody else, where no authority of
// this package signs certificates.
func (c *Cluster) impersonating(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(c.Config)
	config.UserAgent = "fleetwright-test/" + user
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

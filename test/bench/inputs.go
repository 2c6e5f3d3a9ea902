// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// writeChart makes a chart that yields the objects of a rendered directory. What a chart's author would take from values
// is taken from values: names, the namespace, labels, image and zones.
func writeChart(rendered, chart string) error {
	templates := filepath.Join(chart, "templates")
	if err := os.MkdirAll(templates, 0o700); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(rendered, "fleets_*.yaml"))
	if err != nil {
		return err
	}
	values := map[string]string{
		"ghcr.io/ewhauser/celld@":        "{{ .Values.repository }}@",
		"namespace: fleets":              "namespace: {{ .Release.Namespace }}",
		"name: my-fleet":                 "name: {{ .Release.Name }}",
		"celld.eric.dev/fleet: my-fleet": "celld.eric.dev/fleet: {{ .Release.Name | quote }}",
		"- us-east-1a":                   "- {{ index .Values.zones 0 }}",
		"- us-east-1b":                   "- {{ index .Values.zones 1 }}",
		"- us-east-1c":                   "- {{ index .Values.zones 2 }}",
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s := string(text)
		for from, to := range values {
			s = strings.ReplaceAll(s, from, to)
		}
		if err := os.WriteFile(filepath.Join(templates, filepath.Base(file)), []byte(s), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(
		os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("apiVersion: v2\nname: fleet\nversion: 0.1.0\n"), 0o600),
		os.WriteFile(filepath.Join(chart, "values.yaml"),
			[]byte("repository: ghcr.io/ewhauser/celld\nzones: [us-east-1a, us-east-1b, us-east-1c]\n"), 0o600),
	)
}

// sameObjects fails unless every program prints the same set of objects.
func sameObjects(programs []program) error {
	var want map[string]any
	for _, p := range programs {
		out, err := commandOutput(p.args...)
		if err != nil {
			return err
		}
		got, err := objectsOf(out)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(want, got) {
			return fmt.Errorf("%s prints other objects than %s", p.name, programs[0].name)
		}
	}
	return nil
}

func objectsOf(stream string) (map[string]any, error) {
	objects := map[string]any{}
	dec := yaml.NewDecoder(strings.NewReader(stream))
	for {
		var o map[string]any
		err := dec.Decode(&o)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		metadata, _ := o["metadata"].(map[string]any)
		objects[fmt.Sprintf("%v %v %v", o["kind"], metadata["namespace"], metadata["name"])] = o
	}
}

// writeStream writes n copies of the fleet with names and buckets of their own, all with one service account.
func writeStream(path string, n int, account string) error {
	text, err := os.ReadFile(filepath.Join(fleet, "fleet.yaml"))
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range n {
		one := bytes.ReplaceAll(text, []byte("my-fleet"), fmt.Appendf(nil, "fleet-%d", i))
		one = bytes.ReplaceAll(one, []byte("my-bucket"), fmt.Appendf(nil, "bucket-%d", i))
		one = bytes.ReplaceAll(one, []byte("celld-runtime"), []byte(account))
		if _, err := fmt.Fprintf(w, "---\n%s", one); err != nil {
			return err
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

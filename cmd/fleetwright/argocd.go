// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Argo CD hands the parameters of an application to the command of its plugin in this variable: a list of names and
// values. Its flat variables are not read: names that differ there can be the same here.
const parametersVariable = "ARGOCD_APP_PARAMETERS"

// parameters are those that config/argocd/plugin.yaml announces. An empty one is as good as none.
type parameters struct {
	namespace       string
	healerNamespace string
}

// parameters reads those of the application. One that is not known, or given twice, is refused: a namespace that is not read because
// its name is misspelt makes another fleet.
func (a *app) parameters() (parameters, error) {
	var p parameters
	text := a.getenv(parametersVariable)
	if text == "" {
		return p, nil
	}
	var list []struct {
		Name   string
		String *string
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return p, usageError{fmt.Sprintf("%s: %v", parametersVariable, err)}
	}
	known := map[string]*string{"namespace": &p.namespace, "healer-namespace": &p.healerNamespace}
	seen := map[string]bool{}
	for _, given := range list {
		if seen[given.Name] {
			return p, usageError{fmt.Sprintf("%s: parameter %q: given twice; keep one of them", parametersVariable, given.Name)}
		}
		seen[given.Name] = true
		value := known[given.Name]
		if value == nil {
			return p, usageError{fmt.Sprintf("%s: parameter %q: unknown; there are namespace and healer-namespace", parametersVariable, given.Name)}
		}
		if given.String == nil {
			return p, usageError{fmt.Sprintf("%s: parameter %q: its value is a string", parametersVariable, given.Name)}
		}
		if *given.String == "" {
			continue
		}
		if err := checkNamespace("parameter "+given.Name, *given.String); err != nil {
			return p, err
		}
		*value = *given.String
	}
	return p, nil
}

// repository is the top of Argo CD's checkout, "" where the command does not run in the directory of an application. Whether there
// is a .git in it depends on how Argo CD is set up.
func (a *app) repository() string {
	path := filepath.Clean(filepath.FromSlash(a.getenv("ARGOCD_APP_SOURCE_PATH")))
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	if path == "." && a.getenv("ARGOCD_APP_SOURCE_PATH") != "" {
		return here
	}
	top, found := strings.CutSuffix(here, string(filepath.Separator)+path)
	if !found {
		return ""
	}
	return top
}

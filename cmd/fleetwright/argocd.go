// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
)

// Argo CD hands the parameters of an application to the command of its plugin in this variable: a list of names and
// values. Its flat variables are not read: names that differ there can be the same here.
const parametersVariable = "ARGOCD_APP_PARAMETERS"

// parameters are those that config/argocd/plugin.yaml announces. An empty one is as good as none.
type parameters struct {
	namespace       string
	healerNamespace string
}

// parameters reads those of the application. One that is not known is refused: a namespace that is not read because its
// name is misspelt makes another fleet.
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
	for _, given := range list {
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

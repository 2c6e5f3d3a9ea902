// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"net/http"
	"os"
)

const notFetched = "is remote, and nothing is fetched here: keep a copy beside this file"

// offline runs a build that can open no connection and start no program, whatever it reads: kustomize fetches with the process's
// default transport, and by a git that it looks for on the PATH. It is the second line behind the survey, which does not see what
// kustomize itself makes, such as a generator's patched configuration. Calls must not overlap.
func offline(build func() error) error {
	transport := http.DefaultTransport
	http.DefaultTransport = refusing{}
	defer func() { http.DefaultTransport = transport }()
	if path, set := os.LookupEnv("PATH"); set {
		if err := os.Unsetenv("PATH"); err != nil {
			return fmt.Errorf("hiding programs from kustomize: %w", err)
		}
		defer os.Setenv("PATH", path) //nolint:errcheck // it was set before
	}
	return build()
}

// refusing is a transport that sends nothing.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s %s", r.URL.Redacted(), notFetched)
}

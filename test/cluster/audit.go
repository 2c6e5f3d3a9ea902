// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Request is a line of the audit log: something that the API server was asked
// and what it answered. The control plane's own reads are not in the log.
type Request struct {
	User      string
	UserAgent string
	Verb      string // get, list, watch, create, update, patch, delete, deletecollection
	Group     string
	Resource  string // with the subresource: pods/eviction
	Namespace string
	Name      string
	Code      int             // of the answer
	DryRun    bool            // asked for a dry run
	Body      json.RawMessage // of a write
	Time      time.Time       // of its arrival
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s %s %s/%s -> %d (%s, %s)",
		r.Time.Format("15:04:05.000"), r.Verb, r.Resource, r.Namespace, r.Name, r.Code, r.User, r.UserAgent)
}

// Writes tells whether a request was meant to change something.
func (r Request) Writes() bool {
	switch r.Verb {
	case "get", "list", "watch":
		return false
	default:
		return !r.DryRun
	}
}

// Mark is a place in the audit log.
type Mark int64

// Mark returns the end of the audit log. Every request that was answered until
// now is before it.
func (c *Cluster) Mark(tb testing.TB) Mark {
	tb.Helper()
	c.Needs(tb, Audit)
	info, err := os.Stat(c.auditLog())
	if err != nil {
		tb.Fatal(err)
	}
	return Mark(info.Size())
}

// Requests returns the requests after a mark that match, in the order in which
// they were answered. A watch is there once, as soon as it is open.
func (c *Cluster) Requests(tb testing.TB, since Mark, match func(Request) bool) []Request {
	tb.Helper()
	c.Needs(tb, Audit)
	requests, err := c.requests(since, match)
	if err != nil {
		tb.Fatal(err)
	}
	return requests
}

func (c *Cluster) requests(since Mark, match func(Request) bool) ([]Request, error) {
	file, err := os.Open(c.auditLog())
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(max(int64(since)-1, 0), io.SeekStart); err != nil {
		return nil, err
	}

	var requests []Request
	lines := bufio.NewReader(file)
	for before := since > 0; ; before = false { // a line that was being written at the mark is before it
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return requests, nil // a last line without an end is still being written
		} else if err != nil {
			return nil, err
		}
		if before {
			continue
		}
		request, counts, err := parseAudit(line)
		if err != nil {
			return nil, fmt.Errorf("the audit log has a line that is none: %w: %s", err, line)
		}
		if counts && match(request) {
			requests = append(requests, request)
		}
	}
}

func (c *Cluster) auditLog() string { return filepath.Join(c.dir, "audit.log") }

// parseAudit reads a line. Of the two lines of a watch, the one about its end
// does not count.
func parseAudit(line []byte) (_ Request, counts bool, err error) {
	var event struct {
		Stage                    string
		RequestURI               string
		Verb                     string
		UserAgent                string
		User                     struct{ Username string }
		ImpersonatedUser         *struct{ Username string }
		ObjectRef                struct{ APIGroup, Resource, Subresource, Namespace, Name string }
		ResponseStatus           struct{ Code int }
		RequestObject            json.RawMessage
		RequestReceivedTimestamp time.Time
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return Request{}, false, err
	}
	request := Request{
		User:      event.User.Username,
		UserAgent: event.UserAgent,
		Verb:      event.Verb,
		Group:     event.ObjectRef.APIGroup,
		Resource:  event.ObjectRef.Resource,
		Namespace: event.ObjectRef.Namespace,
		Name:      event.ObjectRef.Name,
		Code:      event.ResponseStatus.Code,
		DryRun:    strings.Contains(event.RequestURI, "dryRun=") || asksDryRun(event.RequestObject),
		Body:      event.RequestObject,
		Time:      event.RequestReceivedTimestamp,
	}
	if event.ImpersonatedUser != nil {
		request.User = event.ImpersonatedUser.Username
	}
	if event.ObjectRef.Subresource != "" {
		request.Resource += "/" + event.ObjectRef.Subresource
	}
	return request, event.Verb != "watch" || event.Stage == "ResponseStarted", nil
}

// asksDryRun tells it of a deletion, whose options are its body.
func asksDryRun(body json.RawMessage) bool {
	var options struct{ DryRun []string }
	return json.Unmarshal(body, &options) == nil && len(options.DryRun) > 0
}

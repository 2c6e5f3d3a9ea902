// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// serveServices listens where the API server asks for connections to the
// cluster's addresses, as clusters do whose API server is outside their network.
func (k *kubelet) serveServices(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", k.c.ServicesSocket())
	if err != nil {
		return err
	}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go k.connect(from)
		}
	}()
	return nil
}

// connect answers one CONNECT.
func (k *kubelet) connect(from net.Conn) {
	defer func() { _ = from.Close() }()
	request, err := http.ReadRequest(bufio.NewReader(from))
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	to, err := k.dial(ctx, request.Host)
	if err != nil {
		fmt.Fprintf(from, "HTTP/1.1 503 %s\r\n\r\n", err)
		return
	}
	defer func() { _ = to.Close() }()
	if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{to, from}, {from, to}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

// dial connects to a ready Pod of the Service with an address.
func (k *kubelet) dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	services, err := k.c.Kubernetes.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range services.Items {
		service := &services.Items[i]
		if service.Spec.ClusterIP != host {
			continue
		}
		for _, p := range service.Spec.Ports {
			if strconv.Itoa(int(p.Port)) != port {
				continue
			}
			to, ok := k.endpoint(service, p.TargetPort.String())
			if !ok {
				return nil, fmt.Errorf("no Pod of Service %s/%s is ready", service.Namespace, service.Name)
			}
			return new(net.Dialer).DialContext(ctx, "tcp", to)
		}
	}
	return nil, fmt.Errorf("no Service has %s", address)
}

// endpoint is the address of a named port of any ready Pod of a Service.
func (k *kubelet) endpoint(service *corev1.Service, port string) (string, bool) {
	selected := labels.SelectorFromSet(service.Spec.Selector)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, ct := range k.pods { // in random order
		if ct.ready && ct.pod.Namespace == service.Namespace && selected.Matches(labels.Set(ct.pod.Labels)) {
			return "127.0.0.1:" + ct.ports[port], true
		}
	}
	return "", false
}

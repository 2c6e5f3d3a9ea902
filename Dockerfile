# SPDX-License-Identifier: Apache-2.0

# One image with the three programs, from scratch. The same sources, VERSION and Go make the same bytes.
ARG GO_VERSION=1.26.8

FROM --platform=$BUILDPLATFORM docker.io/library/golang:${GO_VERSION} AS build
ENV CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS="-mod=readonly -trimpath -buildvcs=false"
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=unknown
ARG SOURCE_DATE_EPOCH=0
ENV OUT=/out
RUN mkdir -p "$OUT" && \
    GOOS="${TARGETOS:-linux}" GOARCH="${TARGETARCH:-$(go env GOARCH)}" \
    go build -ldflags "-s -w -buildid= -X main.linked=$VERSION" -o "$OUT/" ./cmd/...
# What is inside, for scanners: each module with its version and checksum, as the programs themselves say.
RUN SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" go run ./test/build/sbom "$VERSION" "$OUT"/* >"$OUT/sbom.cdx.json" && \
    touch -d "@$SOURCE_DATE_EPOCH" "$OUT"/* "$OUT"

FROM scratch
ARG VERSION=unknown
LABEL org.opencontainers.image.title="fleetwright" \
      org.opencontainers.image.source="https://github.com/fleetwright/fleetwright" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
COPY --from=build /out/ /
USER 65532:65532
ENTRYPOINT ["/fleetwright"]

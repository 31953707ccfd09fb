# A static binary on an empty system: no shell, no package manager, not root.
#
#   docker build -t sitemapd --build-arg VERSION=$(git describe --tags --always) .
#   docker run -p 127.0.0.1:8080:8080 -v sitemapd:/var/lib/sitemapd sitemapd serve --site https://example.com

FROM golang:1.26 AS build
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.released=${VERSION}" -o /out/sitemapd ./cmd/sitemapd \
 && install -d -m 0750 /out/data

FROM gcr.io/distroless/static-debian12:nonroot
LABEL org.opencontainers.image.title="sitemapd" \
      org.opencontainers.image.description="Keeps a database true to what WordPress sites publish in their sitemaps" \
      org.opencontainers.image.source="https://github.com/sitemapd/sitemapd" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/sitemapd /sitemapd
COPY --from=build /src/LICENSE /LICENSE
# The only place that is written to; a volume made here belongs to the user that runs.
COPY --from=build --chown=65532:65532 /out/data /var/lib/sitemapd
ENV SITEMAPD_DATABASE=sqlite:/var/lib/sitemapd/sitemapd.db \
    SITEMAPD_LISTEN=0.0.0.0:8080
USER 65532:65532
WORKDIR /var/lib/sitemapd
VOLUME /var/lib/sitemapd
EXPOSE 8080
STOPSIGNAL SIGTERM
# curl is not here; the program asks itself.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["/sitemapd", "healthcheck"]
ENTRYPOINT ["/sitemapd"]
CMD ["serve"]

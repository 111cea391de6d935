/** Stands in for @grpc/proto-loader in bundles (rolldown.config.ts): nothing that we do reads .proto files. */
export {}

/** Replaces @grpc/proto-loader in bundles. Only grpc-js's channelz and ORCA services use it, which we do not. */
export {}

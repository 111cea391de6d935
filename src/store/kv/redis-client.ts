/** Redis' client, for who loads it late: a file of its own, like grpc-connection.ts, and for the same reason. */
export { Redis } from 'ioredis'

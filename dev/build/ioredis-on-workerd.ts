/** Replaces ioredis in the bundle for workerd, where the configuration rejects redis:// URLs. */
export class Redis {
  constructor() {
    throw new Error('Redis over TCP is not available on workerd')
  }
}

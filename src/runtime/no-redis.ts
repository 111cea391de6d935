/** Stands in for ioredis in what is built for workerd (rolldown.config.ts): the configuration refuses redis:// there. */
export class Redis {
  constructor() {
    throw new Error('There is no Redis over TCP on workerd')
  }
}

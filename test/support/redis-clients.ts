import type { Redis } from 'ioredis'

/** The number of connections to a server, with the one of `client`, and without those of replicas. */
export async function clientsOf(client: Redis): Promise<number> {
  return String(await client.call('CLIENT', 'LIST', 'TYPE', 'NORMAL'))
    .trim()
    .split('\n').length
}

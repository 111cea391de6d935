/** The service inside the test's process, in front of the engine of the run. */
import { inject } from 'vitest'
import { createPortico } from '../../src/assemble.ts'
import { type Environment, parseConfig } from '../../src/config.ts'
import { grpcTransport } from '../../src/engine/transport/grpc.ts'

export interface Served {
  /** Default catalog, and task queue, of this service. */
  catalog: string
  fetch(request: Request): Promise<Response>
  close(): Promise<void>
}

/** `env` wins over what is set here: everybody may call, and the catalog is a new one. */
export function serve(env: Environment = {}): Served {
  const config = parseConfig(
    {
      ENGINE_ADDRESS: inject('engine').address,
      SERVICE_CATALOG_ID: `served-${crypto.randomUUID()}`,
      SERVICE_ALLOW_ANONYMOUS: 'true',
      ...env,
    },
    { binds: false },
  )
  const { address, apiKey } = config.engine
  const { fetch, close } = createPortico({
    config,
    transport: grpcTransport({ address, apiKey, tls: null }),
    log: () => {},
    runtime: 'node',
  })
  return { catalog: config.catalog, fetch, close }
}

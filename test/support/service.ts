/** The service as a process of its own, with a client that checks every response. */
import { type ServiceProcess, type ServiceProcessOptions, startServiceProcess } from '../../dev/servers/service.ts'
import { OBSERVED_ENTRY } from '../../dev/servers/start-observed.ts'
import { type Api, makeApi } from './api.ts'
import { watchProcess, withMetrics } from './invariants.ts'
import { withPolicy } from './policy.ts'
import type { SeenAnswer } from './record.ts'
import { withUnusedSecrets } from './variables.ts'

export interface Service extends Api, ServiceProcess {}

export interface ServiceOptions extends ServiceProcessOptions {
  engine?: SeenAnswer['engine']
}

/**
 * What a service logs of any engine if its first call takes too long, as on a busy machine. The next call tells more.
 */
export const NO_RESPONSE = 'cannot use the engine yet: it does not respond; check ENGINE_ADDRESS and ENGINE_TLS'

/** Resolves when it listens. */
export async function startService({ engine = 'real', env = {}, ...options }: ServiceOptions): Promise<Service> {
  const service = await startServiceProcess({
    entry: OBSERVED_ENTRY,
    nodeOptions: ['--expose-gc'],
    ...options,
    env: withMetrics(withUnusedSecrets(withPolicy(env))),
  })
  await watchProcess(service)
  return { ...makeApi({ url: service.url, engine }), ...service }
}

import { until } from '../../src/cli/dev/servers/until.ts'
import type { Answer, Api } from './api.ts'

/** The response of `/ready` when the engine has responded in the second that the service gives it. */
export function readiness({ call }: Pick<Api, 'call'>, path = '/ready'): Promise<Answer> {
  return until('the engine responds in time', async () => {
    const answer = await call('GET', path)
    const { engine } = answer.body
    return engine !== undefined && engine !== 'unreachable' && answer
  })
}

import { until } from '../../src/cli/dev/servers/until.ts'
import type { Answer, Api } from './api.ts'

/**
 * Sends a request again while its response is 503, as clients do, and returns the other response. For requests that a
 * busy machine may not let the engine answer within the time of a request.
 */
export function whenInTime(what: string, send: () => Promise<Answer>): Promise<Answer> {
  return until(what, async () => {
    const answer = await send()
    if (answer.status === 503) throw new Error(answer.text)
    return answer
  })
}

/** The response of `/ready` when the engine has responded in the second that the service gives it. */
export function readiness({ call }: Pick<Api, 'call'>): Promise<Answer> {
  return until('the engine responds in time', async () => {
    const answer = await call('GET', '/ready')
    return answer.body.engine !== 'unreachable' && answer
  })
}

import { until } from '../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../test/support/api.ts'

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

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface RunResponse {
  status: number
  headers: Headers
  text: string
  /** The parsed `text`. */
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
  body: any
}

/**
 * Sends `POST /workflow/run`. Uses a connection of its own and closes it with the response; `fetch` would keep it open.
 */
export async function runAlone(url: string, body: object): Promise<RunResponse> {
  const sent = request(`${url}/workflow/run`, {
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response]: IncomingMessage[] = await once(sent, 'response')
  if (response === undefined) throw new Error('no response')
  const json = await text(response)
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return { status: response.statusCode ?? 0, headers, text: json, body: JSON.parse(json) }
}

/**
 * The npm package `eventsource` as it is. Prints each event of a run as a line of JSON, until the source does not connect
 * again. Arguments: the URL, more headers and, for a POST, the body.
 */
import { EventSource } from 'eventsource'

const [url, moreHeaders, body] = process.argv.slice(2)
const more = JSON.parse(moreHeaders)
const get = (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...more } })
const post = (input, init) =>
  get(input, { ...init, method: 'POST', headers: { ...init.headers, 'Content-Type': 'application/json' }, body })

// While the package waits to reconnect, it does not keep the process alive.
const alive = setInterval(() => {}, 60_000)
const source = new EventSource(url, { fetch: body === undefined ? get : post })
for (const name of ['started', 'result', 'timeout', 'server_error'])
  source.addEventListener(name, ({ data }) => console.log(JSON.stringify({ event: name, data: JSON.parse(data) })))
source.addEventListener('error', ({ code }) => {
  if (source.readyState !== EventSource.CLOSED) return
  console.log(JSON.stringify({ event: 'closed', data: code }))
  clearInterval(alive)
})

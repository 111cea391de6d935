/**
 * The little of curl that our printed requests use, for machines without it: `-sSfN`, `-H`, `-d`, `-w`, `--retry` with
 * `--retry-all-errors` and `--retry-delay`, and a URL.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    'show-error': { type: 'boolean', short: 'S' },
    fail: { type: 'boolean', short: 'f' },
    'no-buffer': { type: 'boolean', short: 'N' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    'write-out': { type: 'string', short: 'w', default: '' },
    retry: { type: 'string', default: '0' },
    'retry-all-errors': { type: 'boolean' },
    'retry-delay': { type: 'string' },
  },
})
const headers = values.header.map((line): [string, string] => {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
})
const { data } = values

// curl's own list.
const TRANSIENT = new Set([408, 429, 500, 502, 503, 504])

async function send(retries: number): Promise<string> {
  const response = await fetch(
    positionals[0] ?? '',
    data === undefined ? { headers } : { method: 'POST', headers, body: data },
  )
  const text = await response.text()
  const isRepeated = values['retry-all-errors'] ? !response.ok : TRANSIENT.has(response.status)
  if (retries === 0 || !isRepeated) return text
  await pause(Number(values['retry-delay'] ?? response.headers.get('Retry-After') ?? '1') * 1000)
  return send(retries - 1)
}

const written = values['write-out'].replaceAll('\\n', '\n')
process.stdout.write(`${await send(Number(values.retry))}${written}`)

/** The little of curl that our printed requests use, for machines without it: `-sS`, `-H`, `-d` and a URL. */
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    'show-error': { type: 'boolean', short: 'S' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
  },
})
const headers = values.header.map((line): [string, string] => {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
})
const { data } = values
const response = await fetch(
  positionals[0] ?? '',
  data === undefined ? { headers } : { method: 'POST', headers, body: data },
)
process.stdout.write(await response.text())

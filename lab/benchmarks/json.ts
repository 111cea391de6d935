/** Measures the cost of parsing JSON with exact numbers, compared with `JSON.parse`. */
import { parseJson } from '../../src/shared/lib/json.ts'

const BYTES = 2 * 1024 * 1024

for (const item of [
  '1',
  '1e1',
  '1e100',
  '0.30000000000000004',
  '9007199254740993',
  '{"a":1,"b":"x"}',
  '"3e123f5e6789"',
]) {
  compare(`of ${item}`, bodyOf(item))
}
compare('of 1 with one 9007199254740993', bodyOf('1', '9007199254740993'))

function bodyOf(item: string, first = item): string {
  return `[${first},${`${item},`.repeat(BYTES / (item.length + 1))}${item}]`
}

function compare(title: string, json: string): void {
  console.log(
    `2 MiB ${title}`.padEnd(42),
    `JSON.parse ${cpuMsOf(JSON.parse, json)} ms`.padEnd(20),
    `parseJson ${cpuMsOf(parseJson, json)} ms`,
  )
}

/** CPU time in milliseconds, the best of five runs. */
function cpuMsOf(parse: (json: string) => unknown, json: string): string {
  const spent = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    parse(json)
    return process.cpuUsage(before).user
  })
  return (Math.min(...spent) / 1000).toFixed(0)
}

/** What does it cost to read numbers exactly? */
import { parseJson } from '../src/lib/exact-json.ts'

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
compare('of 1, and one 9007199254740993', bodyOf('1', '9007199254740993'))

function bodyOf(item: string, first = item): string {
  return `[${first},${`${item},`.repeat(BYTES / (item.length + 1))}${item}]`
}

function compare(what: string, text: string): void {
  console.log(
    `2 MiB ${what}`.padEnd(42),
    `JSON.parse ${cpuMsOf(JSON.parse, text)} ms`.padEnd(20),
    `parseJson ${cpuMsOf(parseJson, text)} ms`,
  )
}

/** Milliseconds of CPU, in the best of five. */
function cpuMsOf(parse: (text: string) => unknown, text: string): string {
  const spent = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    parse(text)
    return process.cpuUsage(before).user
  })
  return (Math.min(...spent) / 1000).toFixed(0)
}

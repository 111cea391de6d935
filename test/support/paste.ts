import { fileURLToPath } from 'node:url'
import { outputOf } from '../../src/cli/dev/servers/component.ts'

/** What a shell prints for a pasted line; `curl` is stood in for where the machine has none. */
export async function paste(line: string): Promise<string> {
  const standIn = fileURLToPath(new URL('./curl.ts', import.meta.url))
  const withCurl = `command -v curl >/dev/null || curl() { '${process.execPath}' '${standIn}' "$@"; }\n${line}`
  return outputOf({ command: 'sh', args: ['-c', withCurl] })
}

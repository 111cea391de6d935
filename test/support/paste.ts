import { fileURLToPath } from 'node:url'
import { runCommand } from '../../src/cli/dev/servers/component.ts'

const STAND_IN = fileURLToPath(new URL('./curl.ts', import.meta.url))

/** Defines `curl` in a shell of a machine that has none. */
export const WITH_CURL = `command -v curl >/dev/null || curl() { '${process.execPath}' '${STAND_IN}' "$@"; }\n`

/** What a shell prints for a pasted line. */
export async function paste(line: string): Promise<string> {
  return runCommand({ command: 'sh', args: ['-c', `${WITH_CURL}${line}`] })
}

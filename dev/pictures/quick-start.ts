/** The quick start of README.md as a terminal session. */
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { firstSteps } from '../first-steps.ts'
import { drawTerminal, type Step } from './terminal.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SHOWN_URL = 'http://127.0.0.1:3001'

// The CLI formats its output for people only if stdout is a terminal.
const IN_A_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", sys.argv[1]])))'

/** Runs the commands of the quick start against `npm run dev` at this URL, each after `prelude` in the same shell. */
export async function recordQuickStart(url: string, prelude = ''): Promise<Step[]> {
  const facts = { withToken: false, docs: false, console: false, uiUrl: null, chatPageUrl: '' }
  const [run = '', startAndStatus = ''] = firstSteps(SHOWN_URL, facts).match(/(?<=^ {2})curl .*$/gm) ?? []
  const commands = [run, startAndStatus, `npx portico run greet --input '{"name":"Ada"}'`]
  const steps: Step[] = []
  // As in a terminal of its own: with `CI` or `NO_COLOR`, which this process may have, there are no colors.
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, TERM: 'xterm-256color', PORTICO_URL: url }
  for (const command of commands) {
    const output = await runCommand({
      command: 'python3',
      args: ['-c', IN_A_TERMINAL, `${prelude}${command.replaceAll(SHOWN_URL, url)}`],
      cwd: ROOT,
      env,
    })
    steps.push({ command, output: onScreen(output).replaceAll(ROOT, '~/portico/').replaceAll(url, SHOWN_URL) })
  }
  return steps
}

/** Without what the sequences that move the cursor and erase a line have removed from the screen again. */
function onScreen(output: string): string {
  // `runCommand` has made a line break of each carriage return.
  const lines = output.replaceAll(/^.*\n(?=\u001b\[K)/gm, '').split('\n')
  return lines
    .map((line) => line.replace(/^.*\u001b\[\d*[GK]/, ''))
    .join('\n')
    .trim()
}

export function drawQuickStart(steps: readonly Step[]): string {
  return drawTerminal(steps, 'The quick start: curl and npx portico run workflows')
}

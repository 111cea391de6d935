/** `portico bulk`: in a pipe, on a terminal, and interrupted. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CTRL_C, cliOnTerminal } from '../../support/cli.ts'
import { cliTest as test } from './cli-fixture.ts'

export function cliBulk(): void {
  test('portico bulk: in a pipe each answer is a line; on a terminal failures are printed, and a summary', async ({
    portico,
    env,
    folder,
  }) => {
    const file = join(folder, 'lines.ndjson')
    const start = { workflowName: 'nothing', input: null }
    const lines = [start, { op: 'stop', workflowId: `none-${crypto.randomUUID()}` }, start]
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('\n')
    await writeFile(file, text)
    const key = `cli-${crypto.randomUUID()}`

    const first = await portico(['bulk', '--key', key], { stdin: text })
    const again = await portico(['bulk', '-f', file, '--key', key])
    const shown = await cliOnTerminal(['bulk', '-f', file, '--key', key], { env: { ...env, NO_COLOR: '1' } })
    const good = await portico(['bulk'], { stdin: `${JSON.stringify(start)}\n` })

    const answersOf = ({ stdout }: { stdout: string }) =>
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .toSorted((one, other) => one.index - other.index)
    expect(answersOf(first).map(({ status }) => status)).toEqual([200, 404, 200])
    expect(answersOf(again).map(({ replayed }) => replayed)).toEqual([true, undefined, true])
    expect(answersOf(again).map(({ body }) => body.runId)).toEqual(answersOf(first).map(({ body }) => body.runId))
    expect([first.code, again.code, shown.code, good.code]).toEqual([1, 1, 1, 0])
    expect([first.stderr, good.stderr]).toEqual([
      '3 lines: 2 succeeded, 1 failed\n',
      '1 lines: 1 succeeded, 0 failed\n',
    ])
    expect(shown.output).toMatch(/line 2: .* \(WorkflowNotFoundError\)\n/)
  })

  test('portico bulk: Ctrl-C says how to finish it, and a line that is no JSON is named before anything is sent', async ({
    portico,
    env,
    folder,
  }) => {
    const file = join(folder, 'many.ndjson')
    const line = { workflowName: 'nothing', input: null, startDelay: '1h' }
    const stop = { op: 'stop', workflowId: 'none' }
    async function interrupted(text: string, key: string) {
      await writeFile(file, text)
      return cliOnTerminal(['bulk', '-f', file, '--key', key], {
        env,
        seen: { text: ', 0 failed', act: (type) => type(CTRL_C) },
        columns: 100,
      })
    }
    const starts = `${JSON.stringify(line)}\n`.repeat(2500)

    const stopped = await interrupted(starts, 'import-7')
    const once = await interrupted(`${starts}${JSON.stringify(stop)}\n`, 'import-8')
    const wrong = await portico(['bulk'], { stdin: `${JSON.stringify(line)}\n\n{"a"\n` })
    const empty = await portico(['bulk'], { stdin: '\n' })

    expect(stopped.code).toBe(130)
    expect(stopped.output).toMatch(/\d+ of 2500 lines were answered\..*--key import-7/)
    expect(once.output).toMatch(/\d+ of 2501 lines were answered\. No answer: line .*-2501\. .* import-8:0/)
    expect([wrong.code, wrong.stderr, empty.code]).toEqual([2, 'error: Line 3 is not a JSON object\n', 2])
  })
}

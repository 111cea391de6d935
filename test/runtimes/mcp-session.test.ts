/** The example session of docs/mcp.md: its commands, with the ids of the service, print what the page says. */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { EXAMPLE_WORKER } from '../support/example-worker.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { chapterOf } from '../support/markdown.ts'
import { paste } from '../support/paste.ts'

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => EXAMPLE_WORKER)

const page = await readFile(new URL('../../docs/mcp.md', import.meta.url), 'utf8')
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

interface Step {
  /** What the commands need: functions and variables. */
  preparation: string
  commands: string[]
  /** What each command prints. */
  outputs: string[]
}

test('docs/mcp.md: each command of its session prints what the page says', async ({ serviceProcess }) => {
  const ids = new Map<string, string>()
  const adapted = (text: string) =>
    text
      .replaceAll('localhost:3001', new URL(serviceProcess.url).host)
      .replaceAll(new RegExp(UUID, 'g'), (id) => ids.get(id) ?? id)
  let prepared = ''
  let commandsRun = 0

  for (const { preparation, commands, outputs } of stepsOf(chapterOf(page, 'An example session'))) {
    prepared += preparation
    expect(outputs, commands.join('\n')).toHaveLength(commands.length)
    for (const [index, command] of commands.entries()) {
      const shown = outputs[index] ?? ''
      let output = ''
      // The worker takes its time.
      await expect
        .poll(async () => {
          output = (await paste(adapted(`${prepared}${command}`))).replaceAll('\n', '')
          return output
        })
        .toMatch(patternOf(shown))
      const [, ...found] = patternOf(shown).exec(output) ?? []
      for (const [position, [id]] of [...shown.matchAll(new RegExp(UUID, 'g'))].entries())
        ids.set(id, found[position] ?? '')
      commandsRun++
    }
  }

  expect(commandsRun).toBeGreaterThan(10)
})

function stepsOf(session: string): Step[] {
  const blocks = [...session.matchAll(/^```sh\n(.*?)^```\n+^```(json|text)\n(.*?)^```$/gms)]
  return blocks.map(([, script = '', language, printed = '']) => {
    const lines = script.replaceAll(/\\\n\s*/g, '').split('\n')
    const isCommand = (line: string) => /^(?:curl|portico_rpc) /.test(line)
    return {
      preparation: lines.filter((line) => !isCommand(line)).join('\n'),
      commands: lines.filter(isCommand),
      // Lines are broken for the page alone.
      outputs: (language === 'text' ? [printed] : printed.split(/^(?=\{)/m)).map((one) => one.replaceAll(/\n */g, '')),
    }
  })
}

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/
const SECONDS = /(?<="progress":)[\d.]+/
const RETRY = /(?<=^retry: )\d+/
const VARYING = new RegExp(`(${[UUID, TIME, SECONDS, RETRY].map(({ source }) => source).join('|')}|…)`)

/** Matches the output, whose ids and times differ and in which `…` stands for the rest. Captures the ids. */
function patternOf(shown: string): RegExp {
  const parts = shown.split(VARYING).map((part, index) => {
    if (index % 2 === 0) return part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    if (part === '…') return '.*?'
    return UUID.test(part) ? `(${UUID.source})` : '[^",]+'
  })
  return new RegExp(`^${parts.join('')}$`)
}

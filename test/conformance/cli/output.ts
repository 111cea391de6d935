/** What commands print for people, and where. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { cliOnTerminal } from '../../support/cli.ts'
import { cliTest as test } from './cli-fixture.ts'

export function cliOutput(): void {
  test('portico list: the table fits in 80 columns, and --wide shows all', async ({ portico, env }) => {
    const ids = ['narrow', `narrow-${'x'.repeat(50)}`]
    for (const id of ids) await portico(['run', 'echo', '--id', id])
    const filter = ['list', '--query', "WorkflowId STARTS_WITH 'narrow'"]
    await until('both are listed', async () => JSON.parse((await portico(filter)).stdout).runs.length === 2)
    const plain = { env: { ...env, NO_COLOR: '1' } }

    const narrow = await cliOnTerminal(filter, { ...plain, columns: 80 })
    const wide = await cliOnTerminal([...filter, '--wide'], { ...plain, columns: 80 })
    const roomy = await cliOnTerminal(filter, { ...plain, columns: 200 })

    const lines = narrow.output.trimEnd().split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBe(80)
    expect(lines[0]).toMatch(/^Status +Workflow +Id +Started \(UTC\)$/)
    expect(lines.at(-1)).toBe('--wide shows all columns, with whole ids.')
    expect(narrow.output).toContain('narrow-xxx')
    expect(narrow.output).toContain('…')
    expect(wide.output).toBe(roomy.output)
    expect(wide.output).toMatch(/^Status +Workflow +Id +Run +Started \(UTC\) +Took$/m)
    expect(wide.output).toContain(ids[1])
  })

  test('portico catalog, history: a description or a failure that is too long is shortened', async ({ env }) => {
    const { output } = await cliOnTerminal(['catalog'], { env: { ...env, NO_COLOR: '1' }, columns: 300 })
    const widest = Math.max(...output.split('\n').map((line) => line.length))
    const narrower = await cliOnTerminal(['catalog'], { env: { ...env, NO_COLOR: '1' }, columns: widest - 5 })

    expect(Math.max(...narrower.output.split('\n').map((line) => line.length))).toBe(widest - 5)
    expect(narrower.output).toContain('…')
  })

  test('portico --text: a pipe gets what a terminal shows, without colors', async ({ portico }) => {
    await portico(['run', 'echo', '--id', 'paged', '--input', '"text"'])

    const { stdout } = await portico(['result', 'paged', '--text'])
    const both = await portico(['result', 'paged', '--text', '--json'])

    expect(stdout).toMatch(/^Status +completed\nId +paged\n/)
    expect(stdout).toContain('\n\n"text"\n')
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("cannot be used with option '--json'")])
  })

  test('portico status: times have their zone', async ({ portico }) => {
    await portico(['run', 'echo', '--id', 'zoned'])

    const { stdout } = await portico(['status', 'zoned', '--text'])

    expect(stdout).toMatch(
      /^Started +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\nCompleted +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m,
    )
  })

  test('portico status: has the progress of each activity', async ({ portico }) => {
    await portico(['start', 'reportsProgress', '--id', 'reporting', '--input', '{"details":{"percent":40}}'])

    const shown = await until('the heartbeat has arrived', async () => {
      const { stdout } = await portico(['status', 'reporting', '--text'])
      return /^Progress.*/m.exec(stdout)?.[0]
    })
    await portico(['terminate', 'reporting'])

    expect(shown).toBe('Progress  reports: {"percent":40,"id":9007199254740993}')
  })

  test('portico: hints say the command as it was typed', async ({ portico }) => {
    const typed = await portico(['status', 'nowhere'])
    const withNpx = await portico(['status', 'nowhere'], { env: { npm_lifecycle_event: 'npx' } })

    expect(typed.stderr).toContain('"portico list" shows the runs.')
    expect(withNpx.stderr).toContain('"npx portico list" shows the runs.')
  })

  test('portico catalog, types: without a published catalog they say that the worker need not publish one', async ({
    portico,
  }) => {
    const ended = await Promise.all([portico(['catalog', 'python']), portico(['types', '--catalog', 'python'])])

    for (const { code, stderr } of ended) {
      expect(code).toBe(1)
      expect(stderr).toContain('Catalog "python" is not published')
      expect(stderr).toContain('A worker without a catalog executes workflows too: portico run <workflow>')
    }
  })

  test('portico: warnings of a response are printed on stderr, whole', async ({ portico, cleanup }) => {
    const long = `Catalog "orders" lists no signal "aprove", but approve, ${'x'.repeat(300)}`
    const service = createServer(({ method }, response) => {
      const run = { workflowId: 'o', runId: '01a1fc08-30b4-7d52-a1f7-52c1b1d0e96a' }
      const accepted = { ...run, signal: 'aprove', accepted: true, warnings: [long] }
      response.setHeader('Content-Type', 'application/json')
      if (method === 'GET') response.end(JSON.stringify({ ...run, status: 'running' }))
      else response.setHeader('Portico-Warning', long.slice(0, 200)).end(JSON.stringify(accepted))
    })
    cleanup.defer(() => void service.close())
    await once(service.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`

    const { code, stdout, stderr } = await portico(['signal', 'o', 'aprove', '--url', url])

    expect([code, stderr]).toEqual([0, `warning: ${long}\n`])
    expect(JSON.parse(stdout)).toMatchObject({ accepted: true, warnings: [long] })
  })

  test('portico signal: a signal that the catalog does not list is sent, with a warning', async ({ portico }) => {
    await portico(['start', 'messages', '--id', 'misspelled'])

    const { code, stdout, stderr } = await portico(['signal', 'misspelled', 'finnish'])

    expect([code, JSON.parse(stdout).accepted]).toEqual([0, true])
    expect(stderr).toBe(`warning: ${JSON.parse(stdout).warnings[0]}\n`)
    expect(stderr).toContain('add, finish')
    await portico(['terminate', 'misspelled'])
  })

  test('portico query: `warnings` of a handler are part of its result', async ({ portico }) => {
    await portico(['start', 'messages', '--id', 'warner', '--input', '{"warnings":["mine"]}'])
    await portico(['signal', 'warner', 'add', '--input', '{"warnings":["mine"]}'])

    const { stdout, stderr } = await portico(['query', 'warner', 'state'])

    expect([JSON.parse(stdout).gathered, stderr]).toEqual([[{ warnings: ['mine'] }], ''])
    await portico(['terminate', 'warner'])
  })
}

/** Commands that wait. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { CTRL_C, cliOnTerminal } from '../../support/cli.ts'
import { cliTest as test, untilOpen } from './cli-fixture.ts'

export function cliWaiting(): void {
  test('portico: Ctrl-C while it waits exits with 130 and says how to wait on', async ({ portico, env }) => {
    await portico(['start', 'neverEnds', '--id', 'patience'])

    const seen = { text: 'patience is running', act: (type: (keys: string) => void) => type(CTRL_C) }
    const { code, output } = await cliOnTerminal(['result', 'patience'], { env, seen })

    expect(code).toBe(130)
    expect(output).toContain('The workflow keeps running. Wait for it: portico result patience')
    expect(JSON.parse((await portico(['status', 'patience'])).stdout)).toMatchObject({ status: 'running' })
  })

  test('portico: on a terminal a line shows what it waits for, and disappears', async ({ portico, env }) => {
    const seen = { text: 'talks is running (1 s)', act: () => void portico(['signal', 'talks', 'finish']) }

    const { code, output } = await cliOnTerminal(['run', 'messages', '--id', 'talks'], { env, seen })

    expect(code).toBe(0)
    expect(output.slice(output.lastIndexOf('talks is running'))).toMatch(
      /^talks is running \(\d+ s\)\r\u001b\[K.*Status/,
    )
  })

  test('portico result: says that the code of the workflow fails, and why', async ({ portico }) => {
    await portico(['start', 'failTask', '--id', 'buggy'])
    const status = async () => JSON.parse((await portico(['status', 'buggy'])).stdout)
    await until('its workflow task is failing', async () => (await status()).problem !== null)

    // A slow machine may not respond in time.
    const { code, stdout, stderr } = await until('the wait ends with a response', async () => {
      const ended = await portico(['result', 'buggy', '--timeout', '1s'])
      return JSON.parse(ended.stdout).problem ? ended : null
    })

    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({
      error: 'WorkflowExecutionTimedOutError',
      workflowId: 'buggy',
      workflowStatus: 'running',
      problem: { kind: 'workflow_task_failing', message: 'a bug in the workflow' },
    })
    const message =
      /^error: Workflow buggy did not complete within 1s; its workflow task is failing \(attempt \d+\); the worker reported: a bug in the workflow /m
    expect(stderr).toMatch(message)
    // Not only at the end: a script may wait for hours.
    expect(stderr).toMatch(/^buggy is running, workflow task failing \(attempt \d+\): a bug in the workflow$/m)
    expect(stderr).toContain('See what it waits for: portico explain buggy\nThe workflow keeps running.')
    await portico(['terminate', 'buggy'])
  })

  test('portico run: on a terminal the line says that the code of the workflow fails', async ({ portico, env }) => {
    const seen = { text: ', workflow task failing (attempt ', act: (type: (keys: string) => void) => type(CTRL_C) }

    const { code, output } = await cliOnTerminal(['run', 'failTask', '--id', 'bug'], { env, seen })

    expect(code).toBe(130)
    expect(output).toMatch(/bug is running \(\d+ s\), workflow task failing \(attempt \d+\): a bug/)
    expect(output).toContain('portico explain bug\n')
    await portico(['terminate', 'bug'])
  })

  test('portico: Ctrl-C ends a command that reads the terminal', async ({ env }) => {
    const seen = { text: 'Type the value of --input', act: (type: (keys: string) => void) => type(CTRL_C) }

    const { code, output } = await cliOnTerminal(['run', 'echo', '--input', '-'], { env, seen })

    expect(code).toBe(130)
    expect(output).toContain('Interrupted.')
  })

  test('portico run: the error at the end of --timeout says what was given', async ({ portico }) => {
    const run = ['run', 'neverEnds', '--id', 'slow', '--key', 'slow', '--timeout', '1s']
    const { code, stderr } = await untilOpen(() => portico(run))

    expect(code).toBe(4)
    expect(stderr).toContain('Workflow slow did not complete within 1s')
    await portico(['terminate', 'slow'])
  })
}

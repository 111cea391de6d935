/** Activities without a workflow on the command line. */
import { expect } from 'vitest'
import { CTRL_C, cliOnTerminal } from '../../support/cli.ts'
import { cliTest as test } from './cli-fixture.ts'

export function cliActivities(): void {
  test('portico activity: run, start, status, result, stop, terminate and ls, without a workflow', async ({
    portico,
  }) => {
    const id = `cli-${crypto.randomUUID()}`
    const activity = async (...args: string[]) => {
      const { code, stdout } = await portico(['activity', ...args])
      return { code, body: JSON.parse(stdout) }
    }

    const done = await activity('run', 'echoBack', '--input', '{"n":1}')
    const failed = await activity('run', 'rejects', '--options', '{"summary":"fails"}')
    const started = await activity('start', 'outside', '--id', id, '--key', id)
    const again = await activity('start', 'outside', '--id', id, '--key', id)
    const waited = await activity('result', id, '--timeout', '300ms')
    const status = await activity('status', id)
    const stopped = await activity('stop', id, '--reason', 'sold out')
    const terminated = await activity('terminate', id)
    const listed = await activity('ls', '--query', `ActivityId = '${id}'`)

    expect([done.code, done.body.output]).toEqual([0, { n: 1 }])
    expect([failed.code, failed.body.status]).toEqual([1, 'failed'])
    expect(again.body).toEqual(started.body)
    expect([waited.code, waited.body.error]).toEqual([4, 'ActivityExecutionTimedOutError'])
    expect(status.body).toMatchObject({ activityId: id, activityName: 'outside', status: 'running' })
    expect([stopped.code, stopped.body.activityId, terminated.body.terminated]).toEqual([0, id, true])
    expect([listed.code, listed.body.nextPageToken]).toEqual([0, null])
  })

  test('portico activity run: Ctrl-C says how to wait for the generated id', async ({ portico, env }) => {
    const seen = { text: ' is running', act: (type: (keys: string) => void) => type(CTRL_C) }

    const { code, output } = await cliOnTerminal(['activity', 'run', 'outside'], { env, seen })
    const id = /The activity keeps running\. Wait for it: portico activity result (\S+)/.exec(output)?.[1] ?? ''

    expect(code).toBe(130)
    expect(JSON.parse((await portico(['activity', 'terminate', id])).stdout)).toMatchObject({ activityId: id })
  })
}

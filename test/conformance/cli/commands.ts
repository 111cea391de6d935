/** Commands that change a run, follow it, count runs, or check a start. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { cliOnTerminal } from '../../support/cli.ts'
import { cliTest as test } from './cli-fixture.ts'

export function cliCommands(): void {
  test('portico pause, unpause: they stop the progress of a run and let it continue', async ({ portico }) => {
    await portico(['start', 'messages', '--id', 'halted'])
    await portico(['query', 'halted', 'state'])

    const paused = await portico(['pause', 'halted', '--reason', 'lunch'])
    const status = await portico(['status', 'halted'])
    const continued = await portico(['unpause', 'halted', '--text'])

    expect(JSON.parse(paused.stdout)).toMatchObject({ workflowId: 'halted', paused: true })
    expect(JSON.parse(status.stdout)).toMatchObject({ status: 'paused' })
    expect(continued.stdout).toMatch(/^halted continues \(run [\w-]+\)\.\n$/)
    await portico(['terminate', 'halted'])
  })

  test('portico reset: executes the run again from an event, as a new run', async ({ portico }) => {
    const first = JSON.parse((await portico(['run', 'echo', '--id', 'again', '--input', '1'])).stdout)

    const reset = await portico(['reset', 'again', '--event', '1', '--reason', 'a fix'])
    const neither = await portico(['reset', 'again'])
    const missing = await portico(['reset', 'again', '--step', 'charge'])

    const { runId } = JSON.parse(reset.stdout)
    expect(runId).not.toBe(first.runId)
    expect(JSON.parse((await portico(['result', 'again'])).stdout)).toMatchObject({ runId, output: 1 })
    expect([neither.code, neither.stderr]).toEqual([2, 'error: Use either --step or --event\n'])
    expect([missing.code, JSON.parse(missing.stdout).error]).toEqual([1, 'StepNotFoundError'])
  })

  test('portico questions, answer: they list what runs ask people, and answer once', async ({ portico }) => {
    await portico(['start', 'asksPerson', '--id', 'asking', '--input', '{"to":["cli-team"]}'])
    const listed = await until('it is listed', async () => {
      const { stdout } = await portico(['questions', '--to', 'cli-team'])
      return JSON.parse(stdout).questions.length > 0 && JSON.parse(stdout)
    })

    const text = await portico(['questions', '--to', 'cli-team', '--text'])
    const none = await portico(['questions', '--to', 'another-team', '--text'])
    const answered = await portico(['answer', 'asking', 'question-1', '--content', '{"approved":true}'])
    const other = await portico(['answer', 'asking', 'question-1', '--content', '{"approved":false}'])

    expect(listed.questions).toMatchObject([{ workflowId: 'asking', key: 'question-1', to: ['cli-team'] }])
    expect(text.stdout).toMatch(
      /^Id +Key +For +Due \(UTC\) +Question\nasking +question-1 +cli-team +.+ +Refund 250 EUR\?\n$/,
    )
    expect(none.stdout).toBe('No questions.\n')
    expect(JSON.parse(answered.stdout)).toMatchObject({ workflowId: 'asking', answered: true })
    expect([other.code, JSON.parse(other.stdout).error]).toEqual([1, 'QuestionAnsweredError'])
  })

  test('portico activity: retries, pauses and changes an open activity', async ({ portico }) => {
    const id = 'repaired'
    const activity = (name: string, ...more: string[]) => portico(['activity', name, id, 'approval', ...more])
    const untilOpen = () => until('an attempt is executed', async () => (await activity('heartbeat')).code === 0)
    await portico(['start', 'completesOutside', '--id', id, '--input', '{"retryInterval":"1h"}'])
    await untilOpen()
    await activity('fail', '--message', 'no')

    const set = await activity('set', '--options', '{"retry":{"maximumAttempts":9}}')
    const paused = await activity('pause', '--reason', 'a test', '--text')
    const unpaused = await activity('unpause', '--text')
    await untilOpen()
    await activity('fail', '--message', 'no')
    const retried = await activity('retry', '--drop-heartbeat', '--text')
    await untilOpen()
    const wrong = await activity('set', '--options', '[]')
    await portico(['terminate', id])

    expect(JSON.parse(set.stdout).options.retry.maximumAttempts).toBe(9)
    expect([paused, unpaused, retried].map(({ stdout }) => stdout)).toEqual([
      'Activity approval of repaired is paused.\n',
      'Activity approval of repaired continues.\n',
      'The next attempt of activity approval of repaired is due now.\n',
    ])
    expect([wrong.code, wrong.stderr]).toEqual([2, 'error: --options must be a JSON object\n'])
  })

  test('portico activity: completes, fails, cancels and heartbeats an activity that completes outside', async ({
    portico,
  }) => {
    const ids = ['outside-completed', 'outside-failed', 'outside-canceled']
    for (const id of ids) {
      await portico(['start', 'completesOutside', '--id', id, '--input', '{}'])
      await until(
        'the activity waits',
        async () => (await portico(['activity', 'heartbeat', id, 'approval'])).code === 0,
      )
    }

    const [id = '', other = '', stopped = ''] = ids
    const beat = await portico(['activity', 'heartbeat', id, 'approval', '--details', '{"percent":40}', '--text'])
    const completed = await portico([
      'activity',
      'complete',
      id,
      'approval',
      '--output',
      '9007199254740993',
      '--key',
      'k',
    ])
    const failed = await portico([
      'activity',
      'fail',
      other,
      'approval',
      '--message',
      'no',
      '--name',
      'Rejected',
      '--details',
      '[1]',
      '--no-retry',
    ])
    await portico(['stop', stopped])
    const cancel = () => portico(['activity', 'cancel', stopped, 'approval', '--details', '1', '--key', 'k', '--text'])
    const canceled = await until('it should end', async () => {
      const done = await cancel()
      return done.code === 0 && done
    })
    const output = await portico(['result', id])
    const again = await portico(['activity', 'complete', id, 'approval', '--output', '1', '--key', 'k', '--text'])
    const late = await portico(['activity', 'complete', id, 'approval'])
    const wrong = [
      await portico(['activity', 'fail', other, 'approval']),
      await portico(['activity', 'fail', other, 'approval', '--message', 'no', '--details', '{}']),
      await portico(['activity', 'complete', other, 'approval', '--output', 'yes']),
    ]

    expect(beat.stdout).toBe('Activity approval of outside-completed is open.\n')
    expect(canceled.stdout).toBe('Activity approval of outside-canceled is canceled.\n')
    expect(JSON.parse(completed.stdout)).toMatchObject({ workflowId: id, activityId: 'approval', completed: true })
    expect(JSON.parse(failed.stdout)).toMatchObject({ workflowId: other, activityId: 'approval', failed: true })
    expect(JSON.parse(output.stdout).status).toBe('completed')
    expect([again.code, again.stdout]).toEqual([0, 'Activity approval of outside-completed completed.\n'])
    expect([late.code, JSON.parse(late.stdout)]).toMatchObject([
      1,
      { error: 'WorkflowNotRunningError', completed: true },
    ])
    const { errorDetails } = JSON.parse((await portico(['result', other])).stdout)
    expect(errorDetails).toMatchObject({ message: 'no', name: 'Rejected', details: [1], retryable: false })
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2])
  })

  test('portico input: prints the arguments of a run, also while it is open', async ({ portico }) => {
    await portico(['start', 'neverEnds', '--id', 'given', '--arg', '1', '--arg', '9007199254740993'])

    const { stdout } = await portico(['input', 'given'])
    const text = await portico(['input', 'given', '--text'])

    expect(stdout).toContain('"args":[1,9007199254740993]')
    expect(text.stdout).toBe('[\n  1,\n  9007199254740993\n]\n')
    await portico(['terminate', 'given'])
  })

  test('portico validate: checks what a start would, and starts nothing', async ({ portico }) => {
    const valid = await portico(['validate', 'sleepFor', '--input', '{"ms":1}', '--id', 'unstarted'])
    const invalid = await portico(['validate', 'sleepFor', '--input', '{"ms":"1"}'])
    const unknown = await portico(['validate', 'slepFor'])
    const status = await portico(['status', 'unstarted'])

    expect([valid.code, JSON.parse(valid.stdout)]).toEqual([0, { valid: true }])
    expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining('/input/ms must be of type integer')])
    expect([unknown.code, JSON.parse(unknown.stdout).error]).toEqual([1, 'UnsupportedWorkflowError'])
    expect(JSON.parse(status.stdout)).toMatchObject({ error: 'WorkflowNotFoundError' })
  })

  test('portico queue: prints the workers and the backlog of a task queue', async ({ portico, catalog }) => {
    const json = await portico(['queue', catalog])
    const text = await portico(['queue', 'none', '--text'])

    expect(JSON.parse(json.stdout)).toMatchObject({ taskQueue: catalog, activities: { backlog: 0 } })
    expect(text.stdout.split('\n').map((line) => line.split(/ {2,}/)[0])).toEqual([
      'Tasks',
      'Workflows',
      'Activities',
      '',
    ])
  })

  test('portico count: counts the runs that match, by status too', async ({ portico, catalog }) => {
    await portico(['run', 'failWithCauses', '--id', 'counted'])
    const filter = ['--catalog', catalog, '--workflow', 'failWithCauses', '--query', "WorkflowId = 'counted'"]
    await until('it is listed', async () => JSON.parse((await portico(['count', ...filter])).stdout).count === 1)

    const grouped = await portico(['count', ...filter, '--group-by', 'status'])
    const text = await portico(['count', ...filter, '--group-by', 'status', '--text'])
    const none = await portico(['count', ...filter, '--status', 'running'])
    const wrong = await portico(['count', '--group-by', 'name'])

    expect(JSON.parse(grouped.stdout)).toEqual({ count: 1, groups: [{ status: 'failed', count: 1 }] })
    expect(text.stdout).toBe('1 run\n\nfailed  1\n')
    expect(JSON.parse(none.stdout)).toEqual({ count: 0, groups: [] })
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('groupBy')])
  })

  test('portico history --follow: prints one event on each line until the run has ended', async ({ portico, env }) => {
    await portico(['start', 'messages', '--id', 'followed'])
    const seen = { text: 'WorkflowTaskCompleted', act: () => void portico(['signal', 'followed', 'finish']) }

    const terminal = await cliOnTerminal(['history', 'followed', '--follow'], { env: { ...env, NO_COLOR: '1' }, seen })
    const piped = await portico(['history', 'followed', '--follow', '--page-size', '2'])

    const events = piped.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([terminal.code, piped.code]).toEqual([0, 0])
    expect(events.map(({ eventId }) => Number(eventId))).toEqual(events.map((_, at) => at + 1))
    expect(events.at(0).eventType).toBe('WorkflowExecutionStarted')
    expect(events.at(-1).eventType).toBe('WorkflowExecutionCompleted')
    expect(terminal.output).toMatch(/\d +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +WorkflowExecutionSignaled +finish$/m)
    expect(terminal.output).toContain('WorkflowExecutionCompleted')
  })
}

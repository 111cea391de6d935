/** `portico stream`. */
import type { OpenRun } from '../../client/responses.ts'
import type { StreamEvent, StreamItem } from '../../client/stream/stream-event.ts'
import { type Command, type CommonFlags, callService, WAIT_RETRY_MS } from '../command.ts'
import { EXIT, exitCodeOfStatus } from '../exit-code.ts'
import { Interruption } from '../failures.ts'
import { handleOf, type RunFlags } from '../flags/run-ref.ts'
import { renderProgress } from '../output/run.ts'
import { printable, printDocument, printLines, printNote } from '../output/terminal.ts'
import { noteProblem } from './start.ts'

export interface StreamFlags extends CommonFlags, RunFlags {
  topic?: string[]
  from?: string
}

export async function stream(id: string, { topic, from, ...flags }: StreamFlags): Promise<void> {
  const act = async (command: Command) => {
    const { client, signal, isJson, wait } = command
    const { events } = handleOf(client, id, flags).stream({ topics: topic, from, signal })
    let state: Partial<OpenRun> = {}
    const waitForItems = () => wait(`waiting for items of ${id}`, () => renderProgress(state))
    let hide = waitForItems()
    try {
      for await (const event of events()) {
        hide()
        print(event, isJson)
        if (event.type === 'done') return exitCodeOfStatus(event.status)
        if (event.type === 'workflow') state = withNote(state, event)
        hide = waitForItems()
      }
      // `--from` was the id of the last event: there are no more.
      return EXIT.completed
    } catch (error) {
      throw error instanceof Interruption ? new Interruption({ ...state, workflowId: id }) : error
    } finally {
      hide()
    }
  }
  await callService(flags, act, { retryMs: WAIT_RETRY_MS })
}

type EventOf<Type extends StreamEvent['type']> = Extract<StreamEvent, { type: Type }>

/** The new state. A problem that continues is reported once. */
function withNote(before: Partial<OpenRun>, { workflowId, status, problem }: EventOf<'workflow'>): Partial<OpenRun> {
  const state = { workflowStatus: status, ...(problem && { problem }) }
  if (before.problem === undefined) noteProblem(workflowId, state)
  return state
}

function print(event: StreamEvent, isJson: boolean): void {
  if (event.type === 'item') printItem(event, isJson)
  const note = noteOf(event)
  if (note !== null) printNote(printable(note))
}

/** One line: for programs the whole item, for people its data. */
function printItem({ offset, topic, data, id }: StreamItem, isJson: boolean): void {
  if (isJson) printDocument(JSON.stringify({ offset, topic, data, id }))
  else printLines(printable(typeof data === 'string' ? data : JSON.stringify(data)))
}

/** What a reader of the items must know. */
function noteOf(event: StreamEvent): string | null {
  if (event.type === 'truncated') {
    const { from, to } = event
    return to - from === 1 ? `Item ${from} is lost.` : `Items ${from} to ${to - 1} are lost.`
  }
  if (event.type === 'continued') {
    const restart = event.reset ? '; its stream begins again at 0' : ''
    return `The workflow continues in run ${event.runId}${restart}.`
  }
  if (event.type !== 'done') return null
  const missing = event.complete ? '' : ' There may be more items: no worker has responded.'
  return event.complete && event.status === 'completed' ? null : `The run has ended: ${event.status}.${missing}`
}

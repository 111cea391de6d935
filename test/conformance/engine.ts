import { describe } from 'vitest'
import { changing } from './engine/changing.ts'
import { type EngineFixture, engineFixture, type MakeTransport } from './engine/engine-fixture.ts'
import { failingTask } from './engine/failing-task.ts'
import { failures } from './engine/failures.ts'
import { heartbeats } from './engine/heartbeats.ts'
import { history } from './engine/history.ts'
import { listing } from './engine/listing.ts'
import { messages } from './engine/messages.ts'
import { pendingWork } from './engine/pending-work.ts'
import { repeatedIds } from './engine/repeated-ids.ts'
import { running } from './engine/running.ts'
import { signalWithStart } from './engine/signal-with-start.ts'
import { startOptions } from './engine/start-options.ts'
import { describeStarting } from './engine/starting.ts'
import { describeStoredElsewhere } from './engine/stored-elsewhere.ts'
import { versions } from './engine/versions.ts'
import { waiting } from './engine/waiting.ts'

/** The suite of the engine port over one transport. `more` are suites of what only this transport supports. */
export function describeEngine(
  name: string,
  makeTransport: MakeTransport,
  more: readonly ((fixture: EngineFixture) => void)[] = [],
): void {
  describe.concurrent(`engine over ${name}`, () => {
    const fixture = engineFixture(makeTransport)
    running(fixture)
    waiting(fixture)
    signalWithStart(fixture)
    startOptions(fixture)
    repeatedIds(fixture)
    versions(fixture)
    failures(fixture)
    changing(fixture)
    failingTask(fixture)
    heartbeats(fixture)
    history(fixture)
    listing(fixture)
    messages(fixture)
    pendingWork(fixture)
    for (const suite of more) suite(fixture)
  })
  describeStarting(name, makeTransport)
  describeStoredElsewhere(name, makeTransport)
}

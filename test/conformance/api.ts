import { describe, test } from 'vitest'
import { describeActivities } from './activities-alone.ts'
import { activities } from './api/activities.ts'
import { apiFixture, type Gap, type Serve, withOperators } from './api/api-fixture.ts'
import { asyncUpdates } from './api/async-updates.ts'
import { auth } from './api/auth.ts'
import { badInput } from './api/bad-input.ts'
import { bulk } from './api/bulk.ts'
import { catalogs } from './api/catalog.ts'
import { changeRuns } from './api/change-runs.ts'
import { common } from './api/common.ts'
import { control } from './api/control.ts'
import { docsPage } from './api/docs-page.ts'
import { explain } from './api/explain.ts'
import { failingTask } from './api/failing-task.ts'
import { faults } from './api/faults.ts'
import { handlerSchemas } from './api/handler-schemas.ts'
import { history } from './api/history.ts'
import { historyStream } from './api/history-stream.ts'
import { idempotency } from './api/idempotency.ts'
import { input } from './api/input.ts'
import { inspect } from './api/inspect.ts'
import { limits } from './api/limits.ts'
import { mcp } from './api/mcp.ts'
import { message } from './api/message.ts'
import { olderWorkers } from './api/older-workers.ts'
import { openApi } from './api/openapi.ts'
import { origins } from './api/origins.ts'
import { outputAlone } from './api/output-alone.ts'
import { questions } from './api/questions.ts'
import { readAgain } from './api/read-again.ts'
import { repair } from './api/repair.ts'
import { run } from './api/run.ts'
import { runEnds } from './api/run-ends.ts'
import { runEvents } from './api/run-events.ts'
import { runStream } from './api/run-stream.ts'
import { runs } from './api/runs.ts'
import { signalWithStart } from './api/signal-with-start.ts'
import { start } from './api/start.ts'
import { startOptions } from './api/start-options.ts'
import { storedElsewhere } from './api/stored-elsewhere.ts'
import { streams } from './api/stream.ts'
import { streamErrors } from './api/stream-errors.ts'
import { streamPublish } from './api/stream-publish.ts'
import { traceLog } from './api/trace-log.ts'
import { updateWithStart } from './api/update-with-start.ts'
import { validate } from './api/validate.ts'
import { waiting } from './api/wait.ts'
import { describeBatches } from './batches.ts'
import { describeSchedules } from './schedules.ts'

/**
 * The API suite, which runs against a listening service on any runtime, as an operator beside a policy. A gap is tested
 * by its documented behaviour.
 */
export function describeApi(runtime: string, serveAlone: Serve, gaps: readonly Gap[] = []): void {
  const serve = withOperators(serveAlone)
  describe.concurrent(`API on ${runtime}`, () => {
    const api = apiFixture(serve, gaps)
    // Two of these take 30 s: they begin first.
    limits(api)
    run(api)
    runEnds(api)
    runEvents(api)
    runStream(api)
    start(api)
    startOptions(api)
    validate(api)
    outputAlone(api)
    idempotency(api)
    waiting(api)
    inspect(api)
    traceLog(api)
    readAgain(api)
    input(api)
    history(api)
    historyStream(api)
    streams(api)
    streamPublish(api)
    streamErrors(api)
    runs(api)
    failingTask(api)
    explain(api)
    message(api)
    asyncUpdates(api)
    questions(api)
    handlerSchemas(api)
    signalWithStart(api)
    bulk(api)
    updateWithStart(api)
    control(api)
    activities(api)
    repair(api)
    changeRuns(api)
    describeActivities(runtime, (name, act) => test(name, () => act({ api: api().service, catalog: api().catalog })))
    describeSchedules(runtime, (name, act) => test(name, () => act({ api: api().service, catalog: api().catalog })), 2)
    describeBatches(runtime, (name, act) => test(name, () => act(api().service)))
    olderWorkers(api)
    storedElsewhere(api, serve)
    catalogs(api)
    openApi(api)
    mcp(api)
    common(api, serve)
    auth(api)
    origins(api)
    docsPage(api)
    badInput(api)
    faults(api, serve)
  })
}

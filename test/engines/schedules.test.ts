/** Schedules on both generations of the engine's scheduler. Nothing in its API says which one a schedule has. */
import { describeSchedules } from '../conformance/schedules.ts'
import { test, testWithOwnEngine } from '../support/fixtures.ts'

const SECOND_GENERATION = {
  'history.enableChasm': true,
  'history.enableCHASMSchedulerCreation': true,
  'history.enableCHASMSchedulerRouting': true,
  'history.chasmSchedulerCreationRolloutPercent': 100,
}

const ownEngine = testWithOwnEngine({ dynamicConfig: SECOND_GENERATION })

describeSchedules(
  'first generation',
  test.extend('api', { scope: 'file' }, ({ serve, worker: _ }) => serve()),
)
describeSchedules(
  'second generation',
  ownEngine.extend('api', { scope: 'file' }, ({ serve, worker: _ }) => serve()),
)
describeSchedules(
  'over HTTP',
  test.extend('api', { scope: 'file' }, ({ serve, engine, worker: _ }) =>
    serve({ ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: engine.httpUrl ?? '' }),
  ),
  2,
)

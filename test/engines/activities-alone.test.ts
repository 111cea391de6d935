/** Standalone activities over each transport. */
import { describeActivities } from '../conformance/activities-alone.ts'
import { test } from '../support/fixtures.ts'

describeActivities(
  'over gRPC',
  test.extend('api', { scope: 'file' }, ({ serve, worker: _ }) => serve()),
)
describeActivities(
  'over HTTP',
  test.extend('api', { scope: 'file' }, ({ serve, engine, worker: _ }) =>
    serve({ ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: engine.httpUrl ?? '' }),
  ),
)

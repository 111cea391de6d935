/** The worker that `traces.ts` measures. Its workflows are bundled before it starts: `WORKFLOW_BUNDLE` is the path. */
import { defineCatalog, runWorker } from '../../../src/worker/index.ts'
import * as activities from './activities.ts'
import type * as workflows from './workflows.ts'

await runWorker({
  catalog: defineCatalog<typeof workflows>({ busy: {}, oneStep: {} }),
  activities,
  workflowBundle: { codePath: process.env.WORKFLOW_BUNDLE ?? '' },
  shutdownGraceTime: 0,
})

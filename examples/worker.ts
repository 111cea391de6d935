// In your own project: import { runWorker } from 'portico/worker'
import { runWorker } from '../src/worker/index.ts'
import * as activities from './activities.ts'
import { catalog } from './catalog.ts'

await runWorker({ catalog, activities, workflowsPath: new URL('./workflows.ts', import.meta.url) })

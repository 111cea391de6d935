import { join } from 'node:path'
import { describeApi } from '../conformance/api.ts'
import { haveBundles } from '../support/bundles.ts'
import { type ServeEntry, workerdOf } from '../support/entries.ts'

const anonymous: ServeEntry = async (env) => workerdOf(join(await haveBundles(), 'workerd.js'))({ SERVICE_ALLOW_ANONYMOUS: 'true', ...env })

describeApi('workerd', anonymous, ['slashes', 'what-was-sent'])

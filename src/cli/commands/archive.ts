/** `portico archive`. */
import { errorCode } from '../../lib/error-code.ts'
import { errorMessage } from '../../lib/error-message.ts'

interface Kit {
  runArchiver(queues: readonly string[]): Promise<void>
}

// The package's own entry. It needs the Temporal SDK's worker, which the service does not install.
const KIT: string = 'portico/worker'

export async function archive(queues: readonly string[]): Promise<void> {
  const kit: Kit = await import(KIT).catch((error: unknown) => {
    if (!isMissing(error)) throw error
    throw new Error('portico archive requires @temporalio/worker and @temporalio/workflow; install them with npm')
  })
  await kit.runArchiver(queues)
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ERR_MODULE_NOT_FOUND' && errorMessage(error).includes('@temporalio')
}

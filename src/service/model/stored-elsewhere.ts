import type { StoredElsewhere } from '../../shared/wire/execution.ts'
import { type ErrorFacts, ServiceError } from './errors.ts'

/** The error for an output that is stored outside the engine and cannot be downloaded. `output` begins the message. */
export function outputStoredElsewhere(output: string, { sizeBytes }: StoredElsewhere, facts: ErrorFacts): ServiceError {
  const size = sizeBytes > 0 ? ` (${sizeBytes} bytes)` : ''
  const advice = 'set ENGINE_CODEC_ENDPOINT to a codec server that serves it at /download'
  return new ServiceError(
    'NotSupportedError',
    `${output} is stored outside the engine${size} and cannot be read; ${advice}`,
    {
      details: { ...facts, sizeBytes },
    },
  )
}

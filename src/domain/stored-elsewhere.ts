import { type ErrorFacts, ServiceError } from './errors.ts'

/** A value that the engine holds only a reference to: workers keep large ones in a store of their own. */
export interface StoredElsewhere {
  /** Size of the stored value; 0 when its reference does not say. */
  sizeBytes: number
}

/** The error to throw where the response would be that value. */
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

import { expect, test } from 'vitest'
import { EXIT, exitCodeOfError } from '../../../src/cli/exit-code.ts'
import { PorticoError } from '../../../src/client/portico-error.ts'

test.for(['OverloadedError', 'ResourceExhaustedError', 'TooManyRequestsError', 'AuthUnavailableError'] as const)(
  'exit code: after %s the same command may succeed later',
  (name) => {
    expect(exitCodeOfError(new PorticoError(name, 'later', { status: 503 }), EXIT.failed)).toBe(EXIT.unreachable)
  },
)

test.for(['OutcomeUnknownError', 'ResultUnreadableError'] as const)(
  'exit code: %s has the one of a service that does not respond, also with its status 424',
  (name) => {
    expect(exitCodeOfError(new PorticoError(name, 'lost', { status: 424 }), EXIT.failed)).toBe(3)
  },
)

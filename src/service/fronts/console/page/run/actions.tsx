import type { WorkflowStatus } from '../../../../../client/responses.ts'
import { isOpen } from '../../../../../shared/wire/execution.ts'
import { call, runPath } from '../api.ts'
import type { May } from '../capabilities.ts'
import { Confirm, Input, statusText } from '../parts.tsx'
import { hrefOf, navigate, runHref } from '../route.ts'
import { useState } from '../ui.ts'

const REASON = { label: 'Reason (optional, recorded in the history)', name: 'reason' }

function reasonOf(form: FormData): { reason?: string } {
  const reason = String(form.get('reason')).trim()
  return reason === '' ? {} : { reason }
}

type Action = 'stop' | 'terminate' | 'pause' | 'unpause'

const TEXTS: Record<Action, { title: string; text: string; action: string; danger?: boolean }> = {
  stop: {
    title: 'Request cancellation?',
    text: 'The workflow is asked to stop. It may clean up first, or ignore the request.',
    action: 'Request cancellation',
  },
  terminate: {
    title: 'Terminate this run?',
    text: 'The run ends at once. No cleanup code runs, and activities that are executing are not stopped.',
    action: 'Terminate',
    danger: true,
  },
  pause: {
    title: 'Pause this run?',
    text: 'No workflow code runs and no activity starts until the run is unpaused. Timeouts of the workflow keep running.',
    action: 'Pause',
  },
  unpause: { title: 'Let this run continue?', text: 'It continues where it was paused.', action: 'Unpause' },
}

/** What the visitor can do with the run. */
export function Actions({ status, may, canPause, onDone }: ActionsProps) {
  const [asking, setAsking] = useState<Action | null>(null)
  const pausing = status.status === 'paused' ? 'unpause' : 'pause'
  const actions: [action: Action, isShown: boolean][] = [
    [pausing, canPause && may('pause')],
    ['stop', may('stop')],
    ['terminate', may('terminate')],
  ]
  return (
    <div class="buttons actions">
      {isOpen(status.status) &&
        actions.map(
          ([action, isShown]) =>
            isShown && (
              <button
                key={action}
                type="button"
                class={TEXTS[action].danger ? 'secondary danger-text' : 'secondary'}
                onClick={() => setAsking(action)}
              >
                {statusText(action)}…
              </button>
            ),
        )}
      {may('start') && (
        <a class="button secondary" href={hrefOf('start', likeQuery(status))}>
          Start another like it
        </a>
      )}
      {asking !== null && (
        <Confirm
          title={TEXTS[asking].title}
          action={TEXTS[asking].action}
          danger={TEXTS[asking].danger === true}
          onClose={() => setAsking(null)}
          onConfirm={async (form) => {
            const method = asking === 'stop' ? 'PATCH' : 'POST'
            await call(`${runPath(status)}/${asking}`, { method, body: JSON.stringify(reasonOf(form)) })
            onDone()
          }}
        >
          <p>{TEXTS[asking].text}</p>
          <Input {...REASON} />
        </Confirm>
      )}
    </div>
  )
}

interface ActionsProps {
  status: WorkflowStatus
  may: May
  canPause: boolean
  onDone: () => void
}

function likeQuery({ workflowName, catalog, workflowId, runId }: WorkflowStatus): Record<string, string> {
  return { workflow: workflowName, catalog, like: workflowId, likeRun: runId }
}

/** Asks before a run is executed again from a step. */
export function ResetDialog({
  status,
  stepName,
  onClose,
}: {
  status: WorkflowStatus
  stepName: string
  onClose: () => void
}) {
  return (
    <Confirm
      title={`Execute again after ${stepName}?`}
      action="Reset"
      danger={isOpen(status.status)}
      onClose={onClose}
      onConfirm={async (form) => {
        const body = JSON.stringify({ stepName, ...reasonOf(form) })
        const { body: reset } = await call<{ runId: string }>(`${runPath(status)}/reset`, { method: 'POST', body })
        navigate(runHref(status.workflowId, reset.runId))
      }}
    >
      <p>
        A new run keeps the results up to the last completed step of this name, and executes everything after it again,
        with new side effects.
        {isOpen(status.status) && ' This run is terminated.'}
      </p>
      <Input {...REASON} />
    </Confirm>
  )
}

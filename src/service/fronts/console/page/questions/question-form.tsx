import type { Question } from '../../../../../client/responses.ts'
import { ApiError, call, runPath } from '../api.ts'
import { agoText } from '../format.ts'
import { SchemaForm } from '../forms/schema-form.tsx'
import { useForm } from '../forms/use-form.ts'
import { Failure } from '../parts.tsx'
import { useState } from '../ui.ts'

type Asked = Pick<Question, 'key' | 'mayAnswer' | 'runId' | 'schema' | 'workflowId'>

interface State {
  busy: boolean
  error: unknown
  answeredAt: string | null
}

/** The form for the answer to a question. The first answer counts; whoever is late reads when that was. */
export function QuestionForm({ question, onAnswered }: { question: Asked; onAnswered: () => void }) {
  // It never changes, and another object would empty the form.
  const [schema] = useState(question.schema)
  const form = useForm(schema, 'content')
  const [state, setState] = useState<State>({ busy: false, error: null, answeredAt: null })
  const { error, answeredAt } = state
  const issues = error instanceof ApiError ? (error.problem.issues ?? []) : []
  const placed = form.places(issues)

  async function answer(): Promise<void> {
    setState({ busy: true, error: null, answeredAt: null })
    try {
      const content = form.value()
      const body = content === undefined ? '{}' : `{"content":${content}}`
      const path = `${runPath(question)}/questions/${encodeURIComponent(question.key)}/answer`
      const { at } = (await call<{ at: string }>(path, { method: 'POST', body })).body
      setState({ busy: false, error: null, answeredAt: at })
      onAnswered()
    } catch (failed) {
      setState({ busy: false, error: failed, answeredAt: null })
      if (isTooLate(failed)) onAnswered()
    }
  }

  if (!question.mayAnswer) return <p class="quiet small">You may read this question, but not answer it.</p>
  if (answeredAt !== null)
    return (
      <p role="status" class="sent">
        Answered {agoText(new Date(answeredAt).getTime(), Date.now())}.
      </p>
    )
  if (isTooLate(error)) return <Failure error={error} />
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event: Event) => {
        event.preventDefault()
        void answer()
      }}
    >
      <SchemaForm form={form} issues={issues} />
      {error !== null && !(issues.length > 0 && issues.every(({ path }) => placed.has(path))) && (
        <Failure error={error} />
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={state.busy}>
          Answer
        </button>
      </div>
    </form>
  )
}

function isTooLate(error: unknown): boolean {
  return error instanceof ApiError && TOO_LATE.has(error.problem.error)
}

const TOO_LATE: ReadonlySet<string> = new Set([
  'QuestionAnsweredError',
  'WorkflowNotRunningError',
  'QuestionNotFoundError',
])

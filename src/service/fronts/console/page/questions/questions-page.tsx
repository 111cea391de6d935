import type { Question } from '../../../../../client/responses.ts'
import { useCapabilities } from '../capabilities.ts'
import { useNow, useTitle } from '../hooks.ts'
import { ErrorMessage, Input, submitting, Tab, Time } from '../parts.tsx'
import { hrefOf, navigate, runHref } from '../route.ts'
import { useState } from '../ui.ts'
import { QuestionForm } from './question-form.tsx'
import { useQuestions } from './use-questions.ts'

const REFRESH_MS = 5000

/** What workflows ask people, each with a form for the answer. */
export function QuestionsPage({ query }: { query: URLSearchParams }) {
  useTitle('Questions')
  const names = query.getAll('to')
  const { questions, hasMore, error, retry } = useQuestions(filterOf(names), REFRESH_MS)
  const own = ownNameOf(useCapabilities()?.caller?.name ?? null)
  // What was answered here stays, to say how that went.
  const [kept, setKept] = useState<ReadonlyMap<string, Question>>(new Map())
  const now = useNow(30_000)
  const open = questions ?? []
  const shown = [...[...kept.values()].filter(({ key }) => !open.some((one) => one.key === key)), ...open]
  return (
    <main id="main" aria-busy={String(questions === null && error === null)}>
      <div class="page-title">
        <h1>Questions</h1>
      </div>
      <nav class="tabs" aria-label="Questions">
        <Tab label="All" href={hrefOf('questions')} isCurrent={names.length === 0} />
        {own !== null && <Tab label="To me" href={hrefOf('questions', { to: own })} isCurrent={names.join() === own} />}
      </nav>
      <ToFilter key={names.join()} names={names} />
      {error !== null && <ErrorMessage error={error} retry={retry} />}
      {questions === null && error === null && <p class="quiet loading">Loading…</p>}
      {questions !== null && shown.length === 0 && (
        <div class="card empty">
          <h2>No open questions</h2>
          <p class="quiet">A question appears here when a workflow asks people something.</p>
        </div>
      )}
      {shown.map((question) => (
        <QuestionCard
          key={question.key}
          question={question}
          now={now}
          onAnswered={() => setKept((before) => new Map(before).set(question.key, question))}
        />
      ))}
      {hasMore && <p class="quiet small">There are more questions. Name whom they are for to see them.</p>}
    </main>
  )
}

function filterOf(names: readonly string[]): URLSearchParams {
  return new URLSearchParams(names.map((name) => ['to', name]))
}

/** The last part of `token:finance` and `jwt:main:ada`, without the hash of an access token. */
function ownNameOf(caller: string | null): string | null {
  const name = /^(?:token|jwt:[^:]*):([^/]*)/.exec(caller ?? '')?.[1] ?? ''
  return name === '' ? null : name
}

function ToFilter({ names }: { names: readonly string[] }) {
  return (
    <search>
      <form
        class="filters"
        aria-label="Filter questions"
        onSubmit={submitting((form) => {
          const wanted = String(form.get('to'))
            .split(',')
            .map((name) => name.trim())
          navigate(hrefOf('questions', filterOf(wanted.filter((name) => name !== ''))))
        })}
      >
        <div class="filter-row">
          <Input label="For whom" name="to" value={names.join(', ')} placeholder="finance, ada" />
          <div class="buttons">
            <button type="submit" class="secondary">
              Apply
            </button>
          </div>
        </div>
      </form>
    </search>
  )
}

function QuestionCard({ question, now, onAnswered }: { question: Question; now: number; onAnswered: () => void }) {
  const { workflowId, runId, workflowName, message, to, askedAt, due } = question
  return (
    <article class="card question" aria-label={message}>
      <h2>{message}</h2>
      <p class="meta">
        <a href={runHref(workflowId, runId)}>
          {workflowName} <span class="id">{workflowId}</span>
        </a>
        {to !== null && to.length > 0 && <span>For {to.join(', ')}</span>}
        {askedAt !== null && (
          <span>
            Asked <Time at={askedAt} now={now} />
          </span>
        )}
        {due !== null && (
          <span>
            Due <Time at={due} now={now} />
          </span>
        )}
      </p>
      <QuestionForm question={question} onAnswered={onAnswered} />
    </article>
  )
}

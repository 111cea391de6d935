/** Passes a worker's lines on, but for webpack's report of a bundle that was made without errors: some twenty lines. */
export function withoutBundleReport(printLine: (line: string) => void): (line: string) => void {
  let isReport = false
  return (line) => {
    isReport ||= /\[INFO\] asset workflow-bundle-/.test(line)
    if (!isReport) printLine(line)
    if (/^webpack \S+ compiled /.test(line)) isReport = false
  }
}

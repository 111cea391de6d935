/** Removes webpack's report of a successful build, some twenty lines, from a worker's output. */
export function withoutBundleReport(printLine: (line: string) => void): (line: string) => void {
  let isReport = false
  return (line) => {
    isReport ||= /\[INFO\] asset workflow-bundle-/.test(line)
    if (!isReport) printLine(line)
    if (/^webpack \S+ compiled /.test(line)) isReport = false
  }
}

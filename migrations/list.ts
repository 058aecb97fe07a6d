import { Frame1763683200000 } from './0001-frame.ts';
import { Subtasks1763769600000 } from './0002-subtasks.ts';
import { AgentHistory1763856000000 } from './0003-agent-history.ts';
import { Idempotency1763942400000 } from './0004-idempotency.ts';
import { SignIn1764028800000 } from './0005-sign-in.ts';
import { Revisions1764115200000 } from './0006-revisions.ts';
import { GitHubFace1764201600000 } from './0007-github-face.ts';
import { Sprints1764288000000 } from './0008-sprints.ts';
import { Live1764374400000 } from './0009-live.ts';
import { Planning1764460800000 } from './0010-planning.ts';
import { Milestones1764547200000 } from './0011-milestones.ts';
import { Identity1764633600000 } from './0012-identity.ts';
import { Retention1764720000000 } from './0013-retention.ts';
import { Takeovers1764806400000 } from './0014-takeovers.ts';
import { ShownProgress1764892800000 } from './0015-shown-progress.ts';
import { Compared1764979200000 } from './0016-compared.ts';
import { Reasoning1765065600000 } from './0017-reasoning.ts';
import { Waiting1765152000000 } from './0018-waiting.ts';
import { McpServers1765238400000 } from './0019-mcp-servers.ts';
import { Environments1765324800000 } from './0020-environments.ts';
import { PeopleInCommand1765411200000 } from './0021-people-in-command.ts';
import { Audit1765497600000 } from './0022-audit.ts';
import { NeedsAPerson1765584000000 } from './0023-needs-a-person.ts';
import { Proofs1765756800000 } from './0025-proofs.ts';
import { Rewinding1765843200000 } from './0026-rewinding.ts';
import { AgentFigures1765929600000 } from './0027-agent-figures.ts';
import { DigestWords1766016000000 } from './0028-digest-words.ts';
import { AgentsThatLearn1766102400000 } from './0029-agents-that-learn.ts';
import { SharedPlans1766188800000 } from './0030-shared-plans.ts';
import { ChatsAndLeftovers1766275200000 } from './0031-chats-and-leftovers.ts';
import { SavedViews1766361600000 } from './0032-saved-views.ts';
import { Timeline1766448000000 } from './0033-timeline.ts';
import { SearchAndSpend1766707200000 } from './0036-search-and-spend.ts';
import { SuggestionsUnderWay1766793600000 } from './0037-suggestions-under-way.ts';
import { SearchByProject1766880000000 } from './0038-search-by-project.ts';
import { Directors1766966400000 } from './0039-directors.ts';
import { SecretsOfRepositories1767052800000 } from './0040-secrets-of-repositories.ts';
import { BoundEvidence1767139200000 } from './0041-bound-evidence.ts';
import { Admission1767312000000 } from './0043-admission.ts';
import { FairClaims1767484800000 } from './0045-fair-claims.ts';
import { StateOfInstallations1767571200000 } from './0046-state-of-installations.ts';
import { UnreadyCommits1767916800000 } from './0050-unready-commits.ts';
import { RewrittenTasks1768176000000 } from './0053-rewritten-tasks.ts';
import { PartsOfProofs1768262400000 } from './0054-parts-of-proofs.ts';
import { AccountsOfDeliveries1768348800000 } from './0055-accounts-of-deliveries.ts';
import { SeenHeads1768435200000 } from './0056-seen-heads.ts';
import { AsksOfStrangers1768608000000 } from './0058-asks-of-strangers.ts';
import { ServersOfRepositories1768694400000 } from './0059-servers-of-repositories.ts';
import { Bases1768780800000 } from './0060-bases.ts';
import { Merges1768867200000 } from './0061-merges.ts';
import { ReviewComments1768953600000 } from './0062-review-comments.ts';
import { BasesOfMerges1769212800000 } from './0063-bases-of-merges.ts';
import { BasesOfProofs1769299200000 } from './0064-bases-of-proofs.ts';
import { RunsThatBeginByThemselves1769385600000 } from './0065-runs-that-begin-by-themselves.ts';
import { MergedElsewhere1769472000000 } from './0066-merged-elsewhere.ts';
import { MissingPrograms1769558400000 } from './0067-missing-programs.ts';
import { ChangedExpectations1769644800000 } from './0068-changed-expectations.ts';
import { Findings1769731200000 } from './0069-findings.ts';
import { FilesOfTrials1769904000000 } from './0071-files-of-trials.ts';
import { WebhooksOut1770249600000 } from './0073-webhooks-out.ts';
import { RecordsOfTools1770336000000 } from './0074-records-of-tools.ts';
import { Automations1770422400000 } from './0075-automations.ts';
import { Reviews1770508800000 } from './0077-reviews.ts';
import { ExpectationsOfApprovals1770595200000 } from './0080-expectations-of-approvals.ts';
import { Mail1770681600000 } from './0082-mail.ts';
import { IssueLinks1770768000000 } from './0083-issue-links.ts';
import { ProofsOfPulls1770854400000 } from './0084-proofs-of-pulls.ts';
import { FlakyCommands1770854500000 } from './0085-flaky-commands.ts';
import { Benchmarks1770940800000 } from './0086-benchmarks.ts';
import { AgentTrials1771027200000 } from './0087-agent-trials.ts';
import { QuotesAndUndo1771113600000 } from './0088-quotes-and-undo.ts';
import { ReceiptsAndCollisions1771200000000 } from './0089-receipts-and-collisions.ts';
import { Viewers1771286400000 } from './0090-viewers.ts';
import { ScopesOfTokens1771372800000 } from './0091-scopes-of-tokens.ts';
import { WhatSpendIsFor1771459200000 } from './0092-what-spend-is-for.ts';
import { ResponsiblePeople1771545600000 } from './0093-responsible-people.ts';
import { Snoozes1771632000000 } from './0094-snoozes.ts';
import { ChangedPlans1771718400000 } from './0095-changed-plans.ts';
import { WaitsForHosts1771804800000 } from './0096-waits-for-hosts.ts';
import { Workers1771891200000 } from './0097-workers.ts';
import { Upkeep1771977600000 } from './0098-upkeep.ts';
import { Scaling1772064000000 } from './0099-scaling.ts';
import { Traces1772150400000 } from './0100-traces.ts';
import { NoResponsibleViewers1772236800000 } from './0101-no-responsible-viewers.ts';
import { LiveRuns1772236900000 } from './0102-live-runs.ts';
import { HeadsOfPulls1772236970000 } from './0109-heads-of-pulls.ts';
import { ProofsWithoutSettings1772236980000 } from './0110-proofs-without-settings.ts';
import { HiddenTasksAside1772237600000 } from './0112-hidden-tasks-aside.ts';
import { EndedSessions1772237700000 } from './0113-ended-sessions.ts';
import { EarlierUnreadyCommits1772237800000 } from './0114-earlier-unready-commits.ts';
import { HinderedProofs1772237900000 } from './0115-hindered-proofs.ts';
import { PathsOfDiffs1772238000000 } from './0116-paths-of-diffs.ts';
import { AuditOfObjects1772238100000 } from './0117-audit-of-objects.ts';
import { CommitsOfProofs1772238150000 } from './0118-commits-of-proofs.ts';
import { Priorities1772238300000 } from './0119-priorities.ts';
import { WhatProofsAreAbout1772238310000 } from './0120-what-proofs-are-about.ts';
import { ProofsOfStrangers1772238222000 } from './0122-proofs-of-strangers.ts';
import { RulesOfProofs1772238320000 } from './0123-rules-of-proofs.ts';
import { WordsOfSprints1772238330000 } from './0124-words-of-sprints.ts';
import { WordsOfDigests1772238340000 } from './0125-words-of-digests.ts';
import { ChecksByCommit1772238350000 } from './0126-checks-by-commit.ts';
import { McpAnswers1772238360000 } from './0127-mcp-answers.ts';
import { OutdatedParts1772238370000 } from './0128-outdated-parts.ts';
import { RevisionPlaces1772238380000 } from './0129-revision-places.ts';
import { ToldPlaces1772238390000 } from './0130-told-places.ts';
import { PlacesOfTexts1772238400000 } from './0131-places-of-texts.ts';
import { PlacesOfLinkedIssues1772238500000 } from './0132-places-of-linked-issues.ts';
import { EditsOfTasks1772238600000 } from './0133-edits-of-tasks.ts';

/** All migrations, oldest first; an explicit list, because a glob does not work under every runner. */
export const migrations = [
  Frame1763683200000,
  Subtasks1763769600000,
  AgentHistory1763856000000,
  Idempotency1763942400000,
  SignIn1764028800000,
  Revisions1764115200000,
  GitHubFace1764201600000,
  Sprints1764288000000,
  Live1764374400000,
  Planning1764460800000,
  Milestones1764547200000,
  Identity1764633600000,
  Retention1764720000000,
  Takeovers1764806400000,
  ShownProgress1764892800000,
  Compared1764979200000,
  Reasoning1765065600000,
  Waiting1765152000000,
  McpServers1765238400000,
  Environments1765324800000,
  PeopleInCommand1765411200000,
  Audit1765497600000,
  NeedsAPerson1765584000000,
  Proofs1765756800000,
  Rewinding1765843200000,
  AgentFigures1765929600000,
  DigestWords1766016000000,
  AgentsThatLearn1766102400000,
  SharedPlans1766188800000,
  ChatsAndLeftovers1766275200000,
  SavedViews1766361600000,
  Timeline1766448000000,
  SearchAndSpend1766707200000,
  SuggestionsUnderWay1766793600000,
  SearchByProject1766880000000,
  Directors1766966400000,
  SecretsOfRepositories1767052800000,
  BoundEvidence1767139200000,
  Admission1767312000000,
  FairClaims1767484800000,
  StateOfInstallations1767571200000,
  UnreadyCommits1767916800000,
  RewrittenTasks1768176000000,
  PartsOfProofs1768262400000,
  AccountsOfDeliveries1768348800000,
  SeenHeads1768435200000,
  AsksOfStrangers1768608000000,
  ServersOfRepositories1768694400000,
  Bases1768780800000,
  Merges1768867200000,
  ReviewComments1768953600000,
  BasesOfMerges1769212800000,
  BasesOfProofs1769299200000,
  RunsThatBeginByThemselves1769385600000,
  MergedElsewhere1769472000000,
  MissingPrograms1769558400000,
  ChangedExpectations1769644800000,
  Findings1769731200000,
  FilesOfTrials1769904000000,
  WebhooksOut1770249600000,
  RecordsOfTools1770336000000,
  Automations1770422400000,
  Reviews1770508800000,
  ExpectationsOfApprovals1770595200000,
  Mail1770681600000,
  IssueLinks1770768000000,
  ProofsOfPulls1770854400000,
  FlakyCommands1770854500000,
  Benchmarks1770940800000,
  AgentTrials1771027200000,
  QuotesAndUndo1771113600000,
  ReceiptsAndCollisions1771200000000,
  Viewers1771286400000,
  ScopesOfTokens1771372800000,
  WhatSpendIsFor1771459200000,
  ResponsiblePeople1771545600000,
  Snoozes1771632000000,
  ChangedPlans1771718400000,
  WaitsForHosts1771804800000,
  Workers1771891200000,
  Upkeep1771977600000,
  Scaling1772064000000,
  Traces1772150400000,
  NoResponsibleViewers1772236800000,
  LiveRuns1772236900000,
  HeadsOfPulls1772236970000,
  ProofsWithoutSettings1772236980000,
  HiddenTasksAside1772237600000,
  EndedSessions1772237700000,
  EarlierUnreadyCommits1772237800000,
  HinderedProofs1772237900000,
  PathsOfDiffs1772238000000,
  AuditOfObjects1772238100000,
  CommitsOfProofs1772238150000,
  ProofsOfStrangers1772238222000,
  Priorities1772238300000,
  WhatProofsAreAbout1772238310000,
  RulesOfProofs1772238320000,
  WordsOfSprints1772238330000,
  WordsOfDigests1772238340000,
  ChecksByCommit1772238350000,
  McpAnswers1772238360000,
  OutdatedParts1772238370000,
  RevisionPlaces1772238380000,
  ToldPlaces1772238390000,
  PlacesOfTexts1772238400000,
  PlacesOfLinkedIssues1772238500000,
  EditsOfTasks1772238600000,
];

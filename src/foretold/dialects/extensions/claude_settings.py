"""Claude Code: the keys of `.claude/settings.json` and `.claude/settings.local.json`.

From code.claude.com/docs/en/settings-reference and debug-your-config, as of 2.1.240: kinds of values, and the files in
which a key counts. A value of another kind makes the agent refuse the whole file (settings: "Fix a broken settings
file").
"""

from __future__ import annotations

from foretold.dialects.extensions.claude_code import AGENTS, MODES, TOOLS
from foretold.dialects.extensions.tables import SettingsTable, spell

PROJECT, LOCAL = ".claude/settings.json", ".claude/settings.local.json"

_MANAGED = (
    "allowManagedPermissionRulesOnly allowManagedHooksOnly channelsEnabled disableCommandPluginSources"
    " allowAllClaudeAiMcps allowManagedMcpServersOnly disableBrowserExternalNavigation disableMobileSimulatorTools"
    " disableSideloadFlags forceRemoteSettingsRefresh wslInheritsWindowsSettings allowedChannelPlugins"
    " blockedMarketplaces pluginSuggestionMarketplaces strictKnownMarketplaces strictPluginOnlyCustomization"
    " sshHostAllowlist policyHelper claudeMd pluginTrustMessage forceLoginGatewayUrl requiredMaximumVersion"
    " requiredMinimumVersion browserExternalPageTools parentSettingsBehavior"
).split()
_USER = (
    "autoMode skipAutoPermissionPrompt footerLinksRegexes sshConfigs spellcheck vimInsertModeRemaps"
    " askUserQuestionTimeout dialogExpiry processWrapper pluginConfigs"
).split()
_PERSONAL = "useAutoModeDuringPlan skipDangerousModePermissionPrompt syncClaudeAiSkills".split()

KEYS = {
    **spell(
        "flag",
        "alwaysThinkingEnabled enforceAvailableModels fastMode fastModePerSessionOptIn showThinkingSummaries"
        " switchModelsOnFlag ultracode autoCompactEnabled autoMemoryEnabled fileCheckpointingEnabled autoScrollEnabled"
        " axScreenReader emojiCompletionEnabled prefersReducedMotion promptSuggestionEnabled respectGitignore"
        " respondToBashCommands showClearContextOnPlanAccept showTurnDuration spinnerTipsEnabled"
        " syntaxHighlightingDisabled terminalProgressBarEnabled terminalTitleFromRename verbose voiceEnabled"
        " wheelScrollAccelerationEnabled includeCoAuthoredBy includeGitInstructions attribution.sessionUrl"
        " disableAllHooks disableWorkflows enableWorkflows workflowKeywordTriggerEnabled disableBundledSkills"
        " disableSkillShellExecution disableClaudeAiConnectors enableAllProjectMcpServers disableAgentView"
        " isolatePeerMachines agentPushNotifEnabled awaySummaryEnabled disableArtifact disableRemoteControl"
        " inputNeededNotifEnabled remoteControlAtStartup skipWebFetchPreflight",
    ),
    **spell(
        "list",
        "availableModels permissions.allow permissions.ask permissions.deny"
        " permissions.additionalDirectories companyAnnouncements allowedHttpHookUrls httpHookAllowedEnvVars"
        " allowedMcpServers deniedMcpServers disabledMcpjsonServers enabledMcpjsonServers",
    ),
    **spell(
        "number",
        "autoCompactWindow skillListingBudgetFraction skillListingMaxDescChars cleanupPeriodDays feedbackSurveyRate",
    ),
    **spell(
        "table",
        "modelOverrides permissions sandbox env fileSuggestion spinnerTipsOverride spinnerVerbs statusLine"
        " subagentStatusLine voice attribution hooks skillOverrides enabledPlugins extraKnownMarketplaces worktree",
    ),
    **spell(
        "text",
        "advisorModel effortLevel language model outputStyle disableAutoMode"
        " permissions.disableBypassPermissionsMode autoMemoryDirectory plansDirectory defaultShell editorMode"
        " keybindingFlavor theme tui viewMode prUrlTemplate attribution.commit attribution.pr workflowSizeGuideline"
        " agent crossSessionInbound teammateMode disableDeepLinkRegistration preferredNotifChannel apiKeyHelper"
        " awsAuthRefresh awsCredentialExport forceLoginMethod gcpAuthRefresh otelHeadersHelper autoUpdatesChannel"
        " minimumVersion",
    ),
    "permissions.defaultMode": MODES,
    # claudeMdExcludes: the loader says what is wrong with it
    **spell("any", "$schema claudeMdExcludes fallbackModel forceLoginOrgUUID remote mcpServers ignorePatterns"),
    **spell("any", " ".join((*_MANAGED, *_USER, *_PERSONAL, "enableArtifact"))),
    # keys of earlier releases
    **spell("any", "allowedTools preferredNotifChannel feedbackSurveyState autoUpdates toolPermissions installMethod"),
}
_IN_MANAGED = "only the settings of an organisation can have it"
_IN_USER = "put it into the settings of a user, ~/.claude/settings.json"
_SERVERS = {"mcpServers": "put the servers into .mcp.json at the top of the project"}

SETTINGS = SettingsTable(
    agents=AGENTS,
    paths=(PROJECT,),
    keys=KEYS,
    document="code.claude.com/docs/en/settings-reference",
    unread={**dict.fromkeys(_MANAGED, _IN_MANAGED), **dict.fromkeys((*_USER, *_PERSONAL), _IN_USER), **_SERVERS},
    tools=TOOLS,
)
LOCAL_SETTINGS = SETTINGS._replace(
    paths=(LOCAL,),
    unread={**dict.fromkeys(_MANAGED, _IN_MANAGED), **dict.fromkeys(_USER, _IN_USER), **_SERVERS},
)

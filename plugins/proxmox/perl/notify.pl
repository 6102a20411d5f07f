#!/usr/bin/perl
# notify.pl SEVERITY SUBJECT TEXT ADDRESS SENDER: a message by Proxmox VE's notification system, and by mail to ADDRESS
# where that does not say that it delivered it. SENDER is the mail's sender, "" for the system's own. Prints what became
# of it, a line each: "delivered TARGET", "mailed ADDRESS", "said WHAT" (why there is no proof). Fails if neither took it.
#
# PVE::Notify::notify() returns as if all were well whatever becomes of a message: Bus::send() in proxmox-rs,
# proxmox-notify/src/lib.rs, only logs what each target did. Proof is its line "notified via target `NAME`". Where that
# goes depends on libpve-rs-perl (proxmox-perl-rs, common/src/logger.rs): to stderr up to 0.8.9, to the journal alone
# from 0.8.10, to both from 0.9.2.
use strict;
use warnings;

use Encode ();
use POSIX ();

my $PATIENCE_S = $ENV{NASADVISOR_NOTIFY_S} // 40;    # each target of its own gives up after 5 to 10 s

# Arguments are bytes; without this PVE would encode them a second time.
my ($severity, $subject, $text, $address, $sender) = map { my $word = $_; utf8::decode($word); $word } @ARGV;
die "usage: notify.pl SEVERITY SUBJECT TEXT ADDRESS SENDER\n" if @ARGV != 5;
$subject =~ s/[\r\n]+/ /g;
binmode($_, ':encoding(UTF-8)') for *STDOUT, *STDERR;

my ($pid, @log) = notify_by_pve();
my @delivered = targets_in(@log);
if (!@delivered) {
    @log = (@log, journal_of($pid));
    @delivered = targets_in(@log);
}
print "delivered $_\n" for @delivered;
print "said $_\n" for problems_in(@log);
exit 0 if @delivered;
mail() or die "the mail system did not take the message\n";
print "mailed $address\n";

# In a process of its own: what it logs is written by native code to descriptor 2, and it may hang or crash.
sub notify_by_pve {
    open(my $log, '+>', undef) or die "no temporary file: $!\n";
    my $child = fork() // die "no new process: $!\n";
    if (!$child) {
        open(STDIN, '<', '/dev/null');
        POSIX::dup2(fileno($log), $_) for 1, 2;
        $ENV{PVE_LOG} = 'info';    # else the line that is the proof may not be logged
        my $is_well = eval { notify(); 1 };
        my $problem = $is_well ? '' : "$@\n";
        utf8::encode($problem);
        POSIX::write(2, $problem, length($problem));
        POSIX::_exit(0);
    }
    my @ending = wait_for($child) ? () : ("no answer within $PATIENCE_S s");
    seek($log, 0, 0);
    return ($child, lines_of($log), @ending);
}

sub notify {
    require PVE::Notify;
    my ($host) = split(/\./, (POSIX::uname())[1]);
    PVE::Notify::notify(
        $severity, 'nasadvisor',
        { subject => $subject, text => $text, hostname => $host },
        { type => 'nasadvisor', hostname => $host },
    );
}

sub wait_for {
    my ($child) = @_;
    for (1 .. $PATIENCE_S * 20) {
        return 1 if waitpid($child, POSIX::WNOHANG()) != 0;
        select(undef, undef, undef, 0.05);
    }
    kill('KILL', $child);
    waitpid($child, 0);
    return 0;
}

# What a process has written to the journal; nothing where there is none.
sub journal_of {
    my ($process) = @_;
    no warnings 'exec';
    system('timeout', '10', 'journalctl', '--quiet', '--sync');
    my @words = ('--quiet', '--boot', '--output=cat', '--since=-5min', "_PID=$process");
    open(my $journal, '-|', 'timeout', '10', 'journalctl', @words) or return ();
    my @lines = lines_of($journal);
    close($journal);
    return @lines;
}

sub lines_of {
    my ($file) = @_;
    my @lines = map { utf8::decode($_); s/\s+/ /g; s/^ //; s/ $//; $_ } readline($file);
    return grep { length } @lines;
}

sub targets_in { return map { m/notified via target [`'"]?([^`'"\s]+)/ && !m/could not/ ? $1 : () } @_; }

sub problems_in {
    my %seen;
    my @problems = grep { !m/(?:^|: )notified via target / } @_;
    return grep { !$seen{$_}++ } map { s/^(?:ERROR|WARN|INFO): //r } @problems;
}

sub mail {
    local $SIG{PIPE} = 'IGNORE';
    no warnings 'exec';
    my @as = length($sender) ? ('-f', $sender) : ();
    open(my $mail, '|-', 'sendmail', '-i', @as, '--', $address) or return 0;
    binmode($mail, ':encoding(UTF-8)');
    print $mail "From: NAS Advisor <$sender>\n" if length($sender);
    print $mail "To: $address\nSubject: ", Encode::encode('MIME-Header', $subject), "\n";
    print $mail "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n";
    print $mail "Auto-Submitted: auto-generated\n\n$text\n";
    return close($mail);
}
